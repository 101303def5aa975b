from pathlib import Path
from tillbridge import tillbridge

# The file `cursor` holds the cursor of the last run. Without one, the feed starts with the oldest record.
file = Path('cursor')
params = {'kinds': 'customer,inventory', 'limit': 1000}
while True:
    if file.exists():
        params['after_cursor'] = file.read_text()
    page = tillbridge('GET', '/changes', params=params)
    for change in page['data']:
        print(change['kind'], change['id'], change['action'])
    file.write_text(page['meta']['endCursor'])
    if not page['meta']['hasNextPage']:
        break
