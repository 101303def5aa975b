from tillbridge import tillbridge

for store in tillbridge('GET', '/stores', params={'limit': 2})['data']:
    print(store['storeNumber'], store['name'])
