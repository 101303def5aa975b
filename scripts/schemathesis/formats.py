"""The strings that Schemathesis sends for the formats of the tested document (findings.ts)."""

import json

import schemathesis
from hypothesis import strategies as st

encodings = ["utf-8", "UTF-8", "latin1", "windows-1252", "iso-8859-15", "utf-16le", "shift_jis", "gb18030", "koi8-r"]

years, months, days = st.sampled_from(["YYYY", "YY"]), st.sampled_from(["MMMM", "MMM", "MM", "M"]), st.sampled_from(["DD", "D"])
separators = st.sampled_from(["-", "/", ".", " ", ", ", ""])
times = st.sampled_from(["", "THH:MM", " HH:MM:SS", " H:MM AM", " HH.MM.SS.SSS Z", " HH:MM:SS+02:00"])
dates = st.tuples(years, months, days).flatmap(st.permutations)
date_formats = st.builds(lambda date, separator, time: separator.join(date) + time, dates, separators, times)

columns = st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=3)
profiles = st.fixed_dictionaries(
    {},
    optional={
        "format": st.sampled_from(["csv", "ndjson"]),
        "map": columns,
        "ignore": st.lists(st.text(max_size=10), max_size=3),
        "set": columns,
        "dateFormat": date_formats,
        "decimal": st.sampled_from([".", ","]),
        "delimiter": st.sampled_from([";", "|", "tab"]),
        "encoding": st.sampled_from(encodings),
        "values": st.dictionaries(st.text(max_size=10), columns, max_size=2),
        "allowMissing": st.booleans(),
    },
).map(json.dumps)

schemathesis.openapi.format("encoding", st.sampled_from(encodings))
schemathesis.openapi.format("date-format", date_formats)
schemathesis.openapi.format("import-profile", profiles)
