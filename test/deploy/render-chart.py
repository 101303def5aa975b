# Renders the chart with Helm's library: python render-chart.py <chart>, values as JSON on standard input.
import json
import sys

import helm_python

with helm_python.Chart.load(sys.argv[1]) as chart:
    manifests = chart.render(json.load(sys.stdin), name="till", namespace="shop")
print("\n---\n".join(text for name, text in manifests.items() if name.endswith(".yaml")))
