from tillbridge import tillbridge

levels = tillbridge('GET', '/inventory', params={'sku': 'LINDEN-CREW-OAT-M'})['data']
for level in levels:
    print(level['storeNumber'], level['sellable'])
print('in stock' if any(level['sellable'] > 0 for level in levels) else 'sold out')
