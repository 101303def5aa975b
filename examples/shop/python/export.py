import json
from tillbridge import session, url

headers = {'Accept': 'application/x-ndjson'}
count = 0
with session.get(url + '/products', headers=headers, stream=True, timeout=60) as response:
    response.raise_for_status()
    # Raises ChunkedEncodingError if the response is cut: then start again.
    for line in response.iter_lines():
        product = json.loads(line)
        count += 1
print(count, 'products as of', response.headers['X-As-Of'])
