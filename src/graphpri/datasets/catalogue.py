"""What is known of each named graph: counts, files with checksums, citation, terms."""

from __future__ import annotations

from dataclasses import dataclass

from graphpri._arguments import checked
from graphpri.errors import OptionError, did_you_mean


@dataclass(frozen=True)
class Dataset:
    """Facts about a named graph, undirected and simple.

    Parameters
    ----------
    name : str
    title : str
    n_nodes, n_edges : int
        Isolated nodes included.
    weights : str or None
        What the edge weights are; None where there are none.
    citation : str
    terms : str
        Licence or terms of the data, as far as the source states any.
    files : tuple of (path, SHA-256)
        The edges, then the node attributes where there are some; paths are relative to the data folder.
        None of it for generated graphs.
    alias : str or None
        The graph's number in the paper.

    Examples
    --------
    >>> facts = info("karate")
    >>> facts.n_nodes, facts.n_edges, facts.weights
    (34, 78, 'contexts in which two members interacted')
    """

    name: str
    title: str
    n_nodes: int
    n_edges: int
    weights: str | None
    citation: str
    terms: str
    files: tuple[tuple[str, str], ...] = ()
    alias: str | None = None


@dataclass(frozen=True)
class Table:
    """Facts about a table of rows, for applications that learn from them.

    Parameters
    ----------
    name : str
    title : str
    n_rows, n_columns : int
    citation : str
    terms : str
        Licence or terms of the data, as far as the source states any.
    files : tuple of (path, SHA-256)
        One file; the path is relative to the data folder.

    Examples
    --------
    >>> facts = about("parkinsons")
    >>> facts.name, facts.n_rows
    ('parkinsons', 5875)
    """

    name: str
    title: str
    n_rows: int
    n_columns: int
    citation: str
    terms: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ScanSet(Table):
    """Facts about a set of brain networks: a row a scan, a column a region.

    Parameters
    ----------
    name, title, n_rows, n_columns, citation, terms
        As for a :class:`Table`.
    files : tuple of (path, SHA-256)
        The numbers, the labels, then the atlas of the regions where there is one.
    classes : tuple of two str
        What to compare.
    note : str
        How the scans belong to subjects.

    Examples
    --------
    >>> facts = about(scan_sets()[0])
    >>> facts.name, facts.n_rows, facts.classes
    ('eoec', 94, ('eyes_closed', 'eyes_open'))
    """

    classes: tuple[str, str]
    note: str


_NOT_STATED = "not stated"
_SNAP = "J. Leskovec, A. Krevl, SNAP Datasets (2014)"
_DENSIFICATION = f"J. Leskovec, J. Kleinberg, C. Faloutsos, ACM TKDD 1(1) (2007); {_SNAP}"
_COMMUNITIES = f"J. Leskovec, K. Lang, A. Dasgupta, M. Mahoney, Internet Mathematics 6, 29-123 (2009); {_SNAP}"
_CIRCLES = f"J. McAuley, J. Leskovec, Learning to discover social circles in ego networks, NIPS 2012; {_SNAP}"
_SNAP_TERMS = "not stated for the data; taken from SNAPDatasets.jl (MIT, Copyright 2017 Seth Bromberger)"
_PAPER = "the Graph-PRI paper, UAI 2022"

_ALL = (
    Dataset("g1", "ring, each node joined to 5 on either side", 20, 100, None, _PAPER, "generated"),
    Dataset("g2", "stochastic block model of four communities", 120, 504, None, _PAPER, "generated"),
    Dataset(
        name="karate",
        title="Zachary's karate club",
        n_nodes=34,
        n_edges=78,
        weights="contexts in which two members interacted",
        citation=(
            "W. W. Zachary, An information flow model for conflict and fission in small groups, "
            "Journal of Anthropological Research 33, 452-473 (1977)"
        ),
        terms="not stated for the data; as in networkx (BSD-3-Clause)",
        files=(
            ("karate/edges.csv", "fca827ad25363f10ec8d2097c38249937e77c60929fb3b2dadc8c4baba15d7aa"),
            ("karate/nodes.csv", "bc45622485d1083e0d27e3d4683c65ed3b8a065b012237e985df4e8fbf32327d"),
        ),
        alias="g3",
    ),
    Dataset(
        name="madrid",
        title="contacts between suspects of the Madrid train bombing",
        n_nodes=64,
        n_edges=243,
        weights="strength of the tie",
        citation="B. Hayes, Connecting the dots, American Scientist 94(5), 400-404 (2006), after J. Rodriguez (2005)",
        terms=_NOT_STATED,
        files=(("madrid/edges.csv", "41c12d757d0bd4550613ec30733779fb9d3c128e67dc28adefb93260fb80016d"),),
        alias="g4",
    ),
    Dataset(
        name="polbooks",
        title="books about US politics often bought together",
        n_nodes=105,
        n_edges=441,
        weights=None,
        citation="V. Krebs (unpublished), compiled by M. E. J. Newman",
        terms=_NOT_STATED,
        files=(
            ("polbooks/edges.csv", "c40d4e6b4f73e1c2ffdea6ff0ca874c75778eeb31f4e54feb28683fcb6786e68"),
            ("polbooks/nodes.csv", "50f721ccf118ba95be5c322f2f7c3f53f1c4d4ad943bf9cadf91da3c691001e4"),
        ),
        alias="g5",
    ),
    Dataset(
        name="jazz",
        title="collaborations between jazz musicians",
        n_nodes=198,
        n_edges=2742,
        weights=None,
        citation="P. Gleiser, L. Danon, Community structure in jazz, Advances in Complex Systems 6, 565-573 (2003)",
        terms=_NOT_STATED,
        files=(("jazz/edges.csv", "7b7b73fec76b51c1470c6b0c8588229e3a4e5f93aeed1c60ab8ce0f6b7694c4a"),),
        alias="g6",
    ),
    Dataset(
        name="lesmis",
        title="characters of Les Misérables",
        n_nodes=77,
        n_edges=254,
        weights="joint appearances",
        citation="D. E. Knuth, The Stanford GraphBase (1993)",
        terms=_NOT_STATED,
        files=(
            (
                "graphs_small/lesmis_weighted.csv",
                "f7c4e414948f07f97ab3f8cec3109381f74275b24f8bf77969a9a0204edb1fb7",
            ),
        ),
    ),
    Dataset(
        name="celegans",
        title="neurons of C. elegans",
        n_nodes=297,
        n_edges=2148,
        weights="synapses, both directions added",
        citation=(
            "J. G. White et al., Phil. Trans. R. Soc. B 314, 1-340 (1986); "
            "D. J. Watts, S. H. Strogatz, Nature 393, 440-442 (1998)"
        ),
        terms="not stated for the data; taken from a GPL-3 repository",
        files=(
            (
                "graphs_small/celegansneural_weighted.csv",
                "1021842c1980b4adf0783b9a06d22334735b0a82e9f7d01001596aaeb722a4dc",
            ),
        ),
    ),
    Dataset(
        name="us-airports",
        title="the 500 busiest US airports",
        n_nodes=500,
        n_edges=2980,
        weights="seats a year",
        citation=(
            "V. Colizza, R. Pastor-Satorras, A. Vespignani, Nature Physics 3, 276-282 (2007); "
            "V. Latora, V. Nicosia, G. Russo, Complex Networks, Cambridge University Press (2017)"
        ),
        terms="not stated; its readme asks for a reference to the paper and to the book",
        files=(
            (
                "graphs_small/us_airports500_weighted.csv",
                "e8090b776b5da15c0c977ca13be06f8ed3e8ed380b0e5258b5436caa3e3a79e6",
            ),
        ),
    ),
    Dataset(
        name="netscience",
        title="coauthors in network science",
        n_nodes=1589,
        n_edges=2742,
        weights="collaboration strength",
        citation="M. E. J. Newman, Phys. Rev. E 74, 036104 (2006)",
        terms=_NOT_STATED,
        files=(
            (
                "graphs_small/netscience_weighted.csv",
                "cf720d7869c6a525bc1ed8d1b6eebf1e49fb3be7f5798f52a4c9a5c768fec514",
            ),
        ),
    ),
    Dataset(
        name="power-grid",
        title="power grid of the western USA",
        n_nodes=4941,
        n_edges=6594,
        weights=None,
        citation="D. J. Watts, S. H. Strogatz, Nature 393, 440-442 (1998)",
        terms=_NOT_STATED,
        files=(("graphs_small/power_grid.csv", "a5334ca7fe8cc88c5652e41108f31b619ffbb61a40580d6d39b846e2f1aff364"),),
    ),
    Dataset(
        name="polblogs",
        title="links between US political blogs, 2004",
        n_nodes=1490,
        n_edges=16715,
        weights=None,
        citation="L. A. Adamic, N. Glance, The political blogosphere and the 2004 US election, LinkKDD 2005",
        terms=_NOT_STATED,
        files=(
            ("graphs_small/polblogs.csv", "64c6bdc88c41403a8b06b9917201e067cbc41c04b1b5dae13c1f4052cfdafcb1"),
            ("graphs_small/polblogs_nodes.csv", "440a963e6f3ee7bc945472b9618501ace11f03f5d0e1d28c10674c11a70b540f"),
        ),
    ),
    Dataset(
        name="ca-grqc",
        title="coauthors in general relativity",
        n_nodes=5242,
        n_edges=14484,
        weights=None,
        citation=_DENSIFICATION,
        terms="not stated for the data; taken from an Apache-2.0 repository",
        files=(("graphs_large/ca_grqc.csv.gz", "f5dc2cda618046a6741ff40b0eb35ee992de958da9b88dd47e54d1e0c8a23233"),),
    ),
    Dataset(
        name="condmat1999",
        title="coauthors in condensed matter, 1995-1999",
        n_nodes=16726,
        n_edges=47594,
        weights="collaboration strength",
        citation="M. E. J. Newman, PNAS 98, 404-409 (2001)",
        terms="none; its text asks to cite the paper",
        files=(
            (
                "graphs_large/condmat1999_weighted.csv.gz",
                "d08db7d971b9f195e4e61da4e2eb983b38c8add3e28e29ccf7bdba83220c00a8",
            ),
        ),
    ),
    Dataset(
        name="as-caida",
        title="autonomous systems of the internet, 5 November 2007",
        n_nodes=26475,
        n_edges=53381,
        weights=None,
        citation=f"J. Leskovec, J. Kleinberg, C. Faloutsos, KDD 2005; {_SNAP}",
        terms=_SNAP_TERMS,
        files=(
            (
                "graphs_large/as_caida_20071105.csv.gz",
                "3c3c0fd80d8b40a2651de7c0f2481cf09d3f3f26c5c9bb93cc385ad7d41bd744",
            ),
        ),
    ),
    Dataset(
        name="facebook",
        title="friends of ten Facebook users",
        n_nodes=4039,
        n_edges=88234,
        weights=None,
        citation=_CIRCLES,
        terms=_NOT_STATED,
        files=(
            (
                "graphs_large/facebook_combined.csv.gz",
                "c77dbbb711f3d333cae32e33fa67bf46ea4cd7bb4848c4f0a0f24b0fe1e131c3",
            ),
        ),
    ),
    Dataset(
        name="ca-condmat",
        title="coauthors in condensed matter, 1993-2003, largest component",
        n_nodes=21363,
        n_edges=91286,
        weights=None,
        citation=_DENSIFICATION,
        terms=_SNAP_TERMS,
        files=(
            ("graphs_large/ca_condmat_lcc.csv.gz", "492ef97f78d27a73f2ac4b8f65a9e2b75e21d3652373f2eb4e85ecfc4e444647"),
        ),
    ),
    Dataset(
        name="email-enron",
        title="e-mail between Enron employees",
        n_nodes=36692,
        n_edges=183831,
        weights=None,
        citation=f"B. Klimt, Y. Yang, Introducing the Enron corpus (2004); {_COMMUNITIES}",
        terms=_SNAP_TERMS,
        files=(
            ("graphs_large/email_enron.csv.gz", "eb5b3b31ac267d5fcdce478876b62d39c894fb78e2b967c1a2d979e69179f465"),
        ),
    ),
    Dataset(
        name="ca-astroph",
        title="coauthors in astrophysics, largest component",
        n_nodes=17903,
        n_edges=196972,
        weights=None,
        citation=_DENSIFICATION,
        terms=_SNAP_TERMS,
        files=(
            ("graphs_large/ca_astroph_lcc.csv.gz", "9fae5b00a7ecf71b4a71d694ee6a220ff626ac4fa47a80a3045ebad24c62b1a9"),
        ),
    ),
    Dataset(
        name="soc-slashdot",
        title="Slashdot users, February 2009, ties in either direction",
        n_nodes=82168,
        n_edges=504230,
        weights=None,
        citation=_COMMUNITIES,
        terms=_SNAP_TERMS,
        files=(
            (
                "graphs_large/soc_slashdot0902.csv.gz",
                "3629d32d0d0287d4af9a683a0afcfe9e70747f4c92a2464f7985cfe5d00fb502",
            ),
        ),
    ),
    Dataset(
        name="ego-twitter",
        title="Twitter circles, ties in either direction",
        n_nodes=81306,
        n_edges=1342296,
        weights=None,
        citation=_CIRCLES,
        terms=_SNAP_TERMS,
        files=(
            ("graphs_large/ego_twitter.csv.gz", "c0d649267844b40100630fea4c465a4083cbf9fbd9c73d6205aaa827d8943960"),
        ),
    ),
)
_TABLES = (
    Table(
        name="parkinsons",
        title="voice measures and UPDRS scores of 42 people with Parkinson's disease",
        n_rows=5875,
        n_columns=22,
        citation=(
            "A. Tsanas, M. A. Little, P. E. McSharry, L. O. Ramig, Accurate telemonitoring of Parkinson's disease "
            "progression by non-invasive speech tests, IEEE Transactions on Biomedical Engineering 57, 884-893 (2010)"
        ),
        terms=_NOT_STATED,
        files=(
            (
                "parkinsons/parkinsons_updrs.csv.gz",
                "73dc247cb9a549db6c762a2c519d784167bebc3291d8c9fc015c6fa188d1c97c",
            ),
        ),
    ),
    Table(
        name="school",
        title="exam scores of pupils of 139 London schools",
        n_rows=15362,
        n_columns=30,
        citation=(
            "H. Goldstein, Multilevel modelling of survey data, The Statistician 40, 235-244 (1991); J. Zhou, J. Chen, "
            "J. Ye, MALSAR: multi-task learning via structural regularization (2011)"
        ),
        terms=_NOT_STATED,
        files=(("school/school.csv.gz", "b2904ee6002fde0e598c89f46d5bcf82e6094011e6d3f27d196648cc7a6dda7f"),),
    ),
)
_SCAN_SETS = (
    ScanSet(
        name="eoec",
        title="eyes open against eyes closed: resting-state fMRI of 47 healthy people, twice each",
        n_rows=94,
        n_columns=116,
        citation=(
            "D. Liu, Z. Dong, X. Zuo, J. Wang, Y. Zang, Eyes-open/eyes-closed dataset sharing for reproducibility "
            "evaluation of resting state fMRI data analysis methods, Neuroinformatics 11, 469-476 (2013); "
            "Z. Zhou et al., A toolbox for brain network construction and classification (BrainNetClass), Human Brain "
            "Mapping 41, 2808-2826 (2020); atlas: N. Tzourio-Mazoyer et al., NeuroImage 15, 273-289 (2002)"
        ),
        terms="not stated for the series, which come with a GPL-3 toolbox; the atlas: GPL",
        files=(
            ("eoec/eoec_timeseries.npz", "f6e3d9bb75ab24c6a4f0a7d74c978561c768a4770a88589c5505707eefa9e6d8"),
            ("eoec/scans.csv", "9a2e4d2a6112ff943b21de424caa24ce13d98fcd73ef4d5a390ba68c9fa2f22d"),
            ("aal116/aal116_rois.csv", "50729231ba3954ec4091486bf14b4b68d1f5a03ec1d6bef63b122768d5662a70"),
        ),
        classes=("eyes_closed", "eyes_open"),
        note="scans of the same number in both states are taken for the same subject, as their similarity suggests",
    ),
    ScanSet(
        name="devfmri",
        title="children against adults: fMRI of 83 people who watched a film",
        n_rows=83,
        n_columns=64,
        citation=(
            "H. Richardson, G. Lisandrelli, A. Riobueno-Naylor, R. Saxe, Development of the social brain from age "
            "three to twelve years, Nature Communications 9, 1027 (2018); atlas: P. Bellec, P. Rosa-Neto, "
            "O. Lyttelton, H. Benali, A. Evans, Multi-level bootstrap analysis of stable clusters in resting-state "
            "fMRI, NeuroImage 51, 1126-1139 (2010)"
        ),
        terms="non-commercial research, as nilearn says of the data; taken from an MIT repository",
        files=(
            ("devfmri/devfmri_basc064_fc.npz", "a2a9257f144533a5516ec9b4a42b9df2b2cb9a70285fec5154d35c96ec3be7ce"),
            ("devfmri/labels.csv", "557e8e8ac175be647563a2f342a5e558ef95cf7cf11eeed68621beccb801ad04"),
        ),
        classes=("child", "adult"),
        note="one scan of each person",
    ),
)
_BY_NAME = {d.name: d for d in _ALL} | {d.alias: d for d in _ALL if d.alias is not None}


def names() -> tuple[str, ...]:
    """Names of all graphs, the paper's first, then by size.

    Examples
    --------
    >>> names()[:3]
    ('g1', 'g2', 'karate')
    """
    return tuple(d.name for d in _ALL)


def tables() -> tuple[str, ...]:
    """Names of all tables.

    Examples
    --------
    >>> tables()
    ('parkinsons', 'school')
    """
    return tuple(t.name for t in _TABLES)


def scan_sets() -> tuple[str, ...]:
    """Names of all sets of brain networks.

    Examples
    --------
    >>> scan_sets()
    ('eoec', 'devfmri')
    """
    return tuple(s.name for s in _SCAN_SETS)


@checked
def about(name: str) -> Dataset | Table:
    """Facts about a named graph, table or set of brain networks; see :func:`info`.

    Examples
    --------
    >>> type(about("karate")).__name__, type(about("parkinsons")).__name__
    ('Dataset', 'Table')
    """
    found = next((t for t in (*_TABLES, *_SCAN_SETS) if t.name == str(name).casefold()), None)
    return found or info(name)


@checked
def info(name: str) -> Dataset:
    """Facts about a named graph.

    Parameters
    ----------
    name : str
        One of :func:`names`, or a number of the paper, ``"g3"`` to ``"g6"``; case doesn't matter.

    Raises
    ------
    OptionError
        For an unknown name.

    Examples
    --------
    >>> info("G3").title
    "Zachary's karate club"
    """
    key = str(name).casefold().replace("_", "-")
    if key not in _BY_NAME:
        hint = did_you_mean(key, _BY_NAME, 0.6) or f": known are {', '.join(names())}"
        raise OptionError(f"no data set is called {name!r}{hint}")
    return _BY_NAME[key]
