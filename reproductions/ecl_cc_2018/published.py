"""The values that the paper gives: its tables, and the means that it states of its figures.

Tables 5 to 10 and 3 were held against all means and ratios that the text states of them, and agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

Column = dict[str, float | None]
Table = dict[str, Column]

SOURCE = "J. Jaiganesh, M. Burtscher, HPDC 2018"


def _columns(names: tuple[str, ...], text: str) -> Table:
    """Return the values of each column by graph; None stands for a dash."""
    table: Table = {name: {} for name in names}
    for line in text.split("\n"):
        graph, *values = line.split() or ("",)
        for name, value in zip(names, values, strict=bool(graph)):
            table[name][graph] = None if value == "-" else float(value)
    return table


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that are there, or None if there are none."""
    logarithms = [math.log(value) for value in values if value is not None]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


# Table 2: the graphs.
TABLE_2 = _columns(
    ("vertices", "arcs", "d_min", "d_avg", "d_max", "components"),
    """
    2d-2e20.sym       1048576   4190208 2  4.0      4      1
    amazon0601         403394   4886816 1 12.1   2752      7
    as-skitter        1696415  22190596 1 13.1  35455    756
    citationCiteseer   268495   2313294 1  8.6   1318      1
    cit-Patents       3774768  33037894 1  8.8    793   3627
    coPapersDBLP       540486  30491458 1 56.4   3299      1
    delaunay_n24     16777216 100663202 3  6.0     26      1
    europa_osm       50912018 108109320 1  2.1     13      1
    in-2004           1382908  27182946 0 19.7  21869    134
    internet           124651    387240 1  3.1    151      1
    kron_g500-logn21  2097152 182081864 0 86.8 213904 553159
    r4-2e23.sym       8388608  67108846 2  8.0     26      1
    rmat16.sym          65536    967866 0 14.8    569   3900
    rmat22.sym        4194304  65660814 0 15.7   3687 428640
    soc-LiveJournal1  4847571  85702474 0 17.7  20333   1876
    uk-2002          18520486 523574516 0 28.3 194955  38359
    USA-road-d.NY      264346    730100 1  2.8      8      1
    USA-road-d.USA   23947347  57708624 1  2.4      9      1
    """,
)

# Table 3: sectors of the L2 cache read and written by Jump1 to Jump3, over those by Jump4.
TABLE_3 = _columns(
    ("reads 1", "reads 2", "reads 3", "writes 1", "writes 2", "writes 3"),
    """
    2d-2e20.sym      1.43 1.18 2.18  2.36  1.44 0.25
    amazon0601       1.39 1.01 4.73  7.07  6.08 0.48
    as-skitter       1.42 0.99 1.40 10.01  9.48 0.38
    citationCiteseer 1.45 1.04 2.70  4.96  4.16 0.52
    cit-Patents      1.42 1.02 2.22  4.11  3.57 0.56
    coPapersDBLP     1.47 1.04 2.52  6.98  6.61 0.40
    delaunay_n24     1.23 1.05 1.49  1.82  1.37 0.36
    europa_osm       1.96 1.76 9.29  0.83  0.50 0.31
    in-2004          1.28 1.00 1.66  2.69  2.37 0.49
    internet         1.31 1.14 1.65  1.59  1.20 0.56
    kron_g500-logn21 1.71 1.00 2.50 43.38 42.78 0.57
    r4-2e23.sym      1.38 1.01 1.81 12.34  9.95 3.35
    rmat16.sym       1.50 1.12 3.26  4.00  3.90 1.00
    rmat22.sym       1.54 1.00 2.88  9.29  8.53 0.50
    soc-LiveJournal1 1.53 1.00 2.68 11.53 10.74 0.44
    uk-2002          1.32 1.01 2.33  2.95  2.60 0.45
    USA-road-d.NY    1.35 1.30 2.76  0.93  0.75 0.42
    USA-road-d.USA   1.31 1.12 1.49  1.64  1.04 0.35
    """,
)

# Table 4: lengths of paths.
TABLE_4 = _columns(
    ("average", "maximum"),
    """
    2d-2e20.sym      1.35   9
    amazon0601       1.28   8
    as-skitter       1.02  17
    citationCiteseer 1.13  11
    cit-Patents      1.08   9
    coPapersDBLP     1.02   8
    delaunay_n24     1.35  13
    europa_osm       4.26 122
    in-2004          1.14  31
    internet         1.49  10
    kron_g500-logn21 1.01   6
    r4-2e23.sym      1.34  29
    rmat16.sym       1.25  10
    rmat22.sym       1.05   8
    soc-LiveJournal1 1.04   7
    uk-2002          1.15  91
    USA-road-d.NY    2.62  43
    USA-road-d.USA   1.63  27
    """,
)

# Table 5: milliseconds on a GeForce GTX Titan X.
TABLE_5 = _columns(
    ("ECL-CC", "Groute", "Gunrock", "IrGL", "Soman"),
    """
    2d-2e20.sym       1.2   1.9   12.2  11.6   6.9
    amazon0601        0.9   0.9    3.1   6.5   1.5
    as-skitter        2.5   2.0    8.1   5.4   3.7
    citationCiteseer  0.6   4.2    4.4   6.9   2.1
    cit-Patents      14.6  58.6  104.6  70.9  67.6
    coPapersDBLP      2.5   2.8   20.1  11.9   7.3
    delaunay_n24     14.6  22.1  170.6  62.2  66.7
    europa_osm       29.0  21.7  256.9  99.5 116.8
    in-2004           2.6   7.3   75.7  15.4  12.1
    internet          0.2   0.3    2.6   5.2   1.6
    kron_g500-logn21 20.9  24.6  191.8 141.0 134.5
    r4-2e23.sym      21.6  23.8   67.6  54.6  53.8
    rmat16.sym        0.3   1.7    1.8   4.1   1.1
    rmat22.sym       20.5 126.1  129.9 109.5 102.4
    soc-LiveJournal1 12.7  14.0   60.4  43.1  41.3
    uk-2002          45.8 108.5 1389.1 243.8 229.7
    USA-road-d.NY     0.2   0.3    2.7   7.6   1.6
    USA-road-d.USA   14.1  15.3  168.0  60.4  67.1
    """,
)

# Table 6: milliseconds on a Tesla K40c.
TABLE_6 = _columns(
    ("ECL-CC", "Groute", "Gunrock", "IrGL", "Soman"),
    """
    2d-2e20.sym       2.2   4.0   23.7  16.0  12.5
    amazon0601        1.1   1.2    6.6   7.2   2.8
    as-skitter        4.1   3.1   17.6   7.9   7.0
    citationCiteseer  0.9   3.2    8.3   7.3   3.9
    cit-Patents      19.4  64.7  215.0  90.4  84.8
    coPapersDBLP      4.5   4.0   48.4  18.3  14.1
    delaunay_n24     21.0  32.4  402.6 121.0 123.0
    europa_osm       44.2  34.9  584.6 164.5 213.4
    in-2004           4.6  12.3  233.9  22.2  19.2
    internet          0.3   0.4    5.3   5.6   2.2
    kron_g500-logn21 40.1  43.6  351.1 245.2 221.6
    r4-2e23.sym      29.8  37.5   93.1  66.7  67.2
    rmat16.sym        0.4   1.8    2.9   4.4   1.9
    rmat22.sym       27.0 112.2  214.1 150.5 145.7
    soc-LiveJournal1 20.1  18.6  113.4  69.8  67.8
    uk-2002          83.5 212.9 5869.2 480.1 466.8
    USA-road-d.NY     0.4   0.4    4.6   9.6   2.4
    USA-road-d.USA   23.8  27.5  362.4 111.1 132.8
    """,
)

# Table 7: milliseconds on two Xeon E5-2687W v3, 40 threads.
TABLE_7 = _columns(
    ("ECL-CC OMP", "Ligra+ BFSCC", "Ligra+ Comp", "CRONO", "ndHybrid", "Multistep", "Galois"),
    """
    2d-2e20.sym       48.9   88.8   262.8  160.7   37.4  278.4  139.5
    amazon0601        47.7    5.3    11.6  110.0   12.8  174.9   51.8
    as-skitter        63.7   75.6   112.6      -   30.8  224.3  641.6
    citationCiteseer  55.0    2.6     6.4  109.7    7.6  180.8   36.9
    cit-Patents      110.8  333.4   319.1  483.9   83.5  238.3 1061.0
    coPapersDBLP      73.1    6.2    47.1  175.2   11.9  206.8  204.5
    delaunay_n24     137.3  202.1  3883.0 1532.3  286.0  501.2 1738.2
    europa_osm       178.7 7046.0 26540.0 1574.2 2130.0 1438.4 2753.8
    in-2004           52.5   46.5    41.0      -   74.3  286.6  181.5
    internet          37.7    2.4     3.0   43.1   14.1   81.1    8.7
    kron_g500-logn21 117.3 6117.0   228.0      -  111.0  362.6 2980.2
    r4-2e23.sym      119.8   59.0   211.3  363.1  186.0  257.5 2467.9
    rmat16.sym        38.7   51.2     1.8   34.1   14.6  110.4   14.1
    rmat22.sym        83.0 6352.0   274.5  599.2  132.0  250.6 2212.7
    soc-LiveJournal1  89.0  123.1   511.0      -   83.9  260.2 1531.1
    uk-2002          165.5  754.5   727.5      -  346.0  939.9 3918.0
    USA-road-d.NY     27.8   29.2    81.2   74.1   52.2   87.5   12.8
    USA-road-d.USA   117.0  695.7 43160.0 1437.4 1050.0  697.8 1656.1
    """,
)

# Table 8: milliseconds on two Xeon X5690, 12 threads.
TABLE_8 = _columns(
    ("ECL-CC OMP", "Ligra+ BFSCC", "Ligra+ Comp", "CRONO", "ndHybrid", "Multistep", "Galois"),
    """
    2d-2e20.sym       27.0   57.6   680.0  199.3   44.8   57.8   505.3
    amazon0601        16.1    8.8    34.9   78.0   13.3   60.2   166.7
    as-skitter        29.4   52.9   141.0      -   31.6   52.6  1493.5
    citationCiteseer  14.3    4.3    27.7  101.5    9.4   24.1   107.4
    cit-Patents      110.1  216.0   813.0  593.4  147.0   91.1  3427.1
    coPapersDBLP      32.8   11.7    59.7  126.2   17.5   88.9   720.3
    delaunay_n24     168.8  226.0  4410.0 1177.6  422.0  371.2  4934.5
    europa_osm       222.6  926.0 30800.0 2087.6 3930.0 1039.8  8127.0
    in-2004           24.7   44.2    82.6      -   61.9   67.5   677.1
    internet           5.1    2.6     6.7   67.6    4.0   68.5    24.3
    kron_g500-logn21 114.9 2230.0   492.0      -  206.0  292.5  9611.0
    r4-2e23.sym      182.7  131.0   546.0  420.7  237.0  157.2  6325.2
    rmat16.sym         8.8   19.4     4.7   45.1    6.7   47.9    39.4
    rmat22.sym       136.7 2110.0   779.0      -  200.0  140.4  6507.3
    soc-LiveJournal1 123.8  107.0   972.0      -  161.0  152.2  4790.1
    uk-2002          207.1  527.0  1410.0      -  516.0  713.0 12035.9
    USA-road-d.NY      5.7   14.1   112.0   93.2   48.1  110.4    43.3
    USA-road-d.USA   125.8  398.0 70200.0 1316.6 1950.0  389.3  4938.2
    """,
)

# Table 9: milliseconds on a Xeon E5-2687W v3.
TABLE_9 = _columns(
    ("ECL-CC SER", "Galois", "Boost", "Lemon", "igraph"),
    """
    2d-2e20.sym        42.7  117.9  281.3   268.7   319.2
    amazon0601         17.5   46.9  154.6   351.7   174.1
    as-skitter         56.2  604.8  511.6  1487.3   484.9
    citationCiteseer   24.4   31.5   79.5   172.2   104.0
    cit-Patents       268.8  963.9 1961.1  3735.3  2344.9
    coPapersDBLP       66.6  202.5  359.5  1243.8   488.0
    delaunay_n24      510.0 1464.6 2913.7  2545.2  3516.1
    europa_osm        889.8 2060.1 5868.5  6757.3 10872.6
    in-2004            81.8  167.5  261.0   642.6   392.4
    internet            9.8    5.7   15.5     8.7    14.0
    kron_g500-logn21  447.2 2911.9 2486.5 17998.4  6458.5
    r4-2e23.sym       513.6 2323.2 3491.1  8390.9  5916.6
    rmat16.sym          7.2   12.0   24.1    38.5    24.3
    rmat22.sym        458.5 2072.9 2835.7  7976.1  3721.7
    soc-LiveJournal1  405.0 1453.1 2458.9  8361.1  3655.7
    uk-2002          1004.0 3773.1 5732.4 15731.2 13728.8
    USA-road-d.NY      13.3    8.2   42.2    17.6    30.3
    USA-road-d.USA    599.3 1249.9 3823.8  2452.0  3715.4
    """,
)

# Table 10: milliseconds on a Xeon X5690.
TABLE_10 = _columns(
    ("ECL-CC SER", "Galois", "Boost", "Lemon", "igraph"),
    """
    2d-2e20.sym        83.7   485.2  340.1   360.8   383.3
    amazon0601         26.3   159.7  165.0   438.0   222.2
    as-skitter         96.0  1507.2  576.5  1845.8   641.9
    citationCiteseer   13.2   103.0   98.3   237.2   134.8
    cit-Patents       502.1  3316.0 2189.8  4404.1  2992.1
    coPapersDBLP       76.8   747.6  394.7  1496.8   651.0
    delaunay_n24      630.1  4730.9 3226.6  4314.5  5278.1
    europa_osm       1229.1  7590.5 6056.5  7471.5 12768.6
    in-2004            69.2   677.3  297.5   815.2   514.4
    internet            4.1    22.6   19.9    12.7    20.5
    kron_g500-logn21  894.1 10075.9 2966.6 24168.4  8876.0
    r4-2e23.sym       720.3  5945.5 3499.1 10906.3  8195.9
    rmat16.sym          3.6    38.2   27.7    77.2    39.1
    rmat22.sym        729.9  6277.4 3185.2 10148.0  5134.9
    soc-LiveJournal1  469.1  4672.9 2798.9 10568.1  4779.0
    uk-2002          1258.6 12106.1      - 19654.2 10672.1
    USA-road-d.NY       6.1    41.1   44.3    27.5    44.6
    USA-road-d.USA    742.5  4610.9 4231.1  3382.5  4762.3
    """,
)
