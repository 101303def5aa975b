from tillbridge import tillbridge

account = tillbridge('GET', '/customers/60001/rewards')['data']
print(account['tierName'], account['availablePoints'], 'points,', account['pointsToNextReward'], 'to the next reward')
