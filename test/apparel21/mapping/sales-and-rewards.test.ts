import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAccount, parseGifts, parseLots, parseTiers } from '../../../src/backoffice/apparel21/mapping/rewards.ts'
import { parseTransaction } from '../../../src/backoffice/apparel21/mapping/transactions.ts'
import { parseRewardAccount } from '../../../src/backoffice/apparel21/operations/reward-accounts.ts'
import { parseXmlDocument } from '../../support/xml-document.ts'

const transaction = `<Transaction>
  <RowNumber>1</RowNumber><Id>13748</Id><Number>W10100000130</Number><OrderNumber>W0000123</OrderNumber><Type>Special Order Update</Type>
  <SaleDate>2024-05-26T00:00:00</SaleDate><StoreCode>101</StoreCode><StoreName>Sample Store</StoreName>
  <Currency><Code>AUD</Code><Format>#,##0.00 'AUD'</Format></Currency>
  <Details Type="Array" TotalRows="2">
    <Detail><Id>15882</Id><Sequence>0</Sequence><ProductCode>STY5001</ProductCode><ProductName>SAMPLE TEE</ProductName><ColourCode>BLK</ColourCode>
      <ColourName>Black</ColourName><SizeCode>S</SizeCode><Quantity>1</Quantity><Price>29.99</Price><Value>25.99</Value><TaxPercentage>10</TaxPercentage>
      <Discounts Type="Array" TotalRows="1"><Discount><Id>15883</Id><Sequence>1</Sequence><Type>Loyalty</Type><Reason>POS Loyalty 1</Reason><Amount>4</Amount><Percentage>13.34</Percentage></Discount></Discounts></Detail>
    <Detail><Id>15884</Id><Sequence>1</Sequence><ProductCode>-</ProductCode><Quantity>-1</Quantity><Price>10</Price><Value>-10</Value><TaxPercentage xsi:nil="true" /><Discounts /></Detail>
  </Details></Transaction>`

test('a transaction has one row per line and negative returns', async () => {
  const [first, second] = parseTransaction(await parseXmlDocument(transaction), '3001', 'USD')
  assert.deepEqual(first?.header, {
    id: '13748',
    number: 'W10100000130',
    orderNumber: 'W0000123',
    channel: 'web',
    type: 'specialOrderUpdate',
    saleDate: '2024-05-26 00:00:00',
    customerId: '3001',
    storeNumber: '101',
    storeName: 'Sample Store',
    currency: 'AUD',
  })
  assert.deepEqual(first?.line, {
    id: '15882',
    sequence: 0,
    productCode: 'STY5001',
    productName: 'SAMPLE TEE',
    colourCode: 'BLK',
    colourName: 'Black',
    sizeCode: 'S',
    quantity: 1,
    price: '29.99',
    value: '25.99',
    taxPercent: '10',
    discounts: [{ type: 'loyalty', reason: 'POS Loyalty 1', amount: '4.00', percentage: '13.34' }],
  })
  assert.deepEqual(
    [second?.line.quantity, second?.line.value, second?.line.taxPercent, second?.line.discounts],
    [-1, '-10.00', null, []],
  )
})

test("a number's first letter gives the channel; unknown types are sales", async () => {
  const parseHeader = async (number: string, type: string) => {
    const content = transaction.replace('W10100000130', number).replace('Special Order Update', type)
    const { channel, type: saleType } = parseTransaction(await parseXmlDocument(content), '1', 'AUD')[0]?.header ?? {}
    return [channel, saleType]
  }
  assert.deepEqual(await parseHeader('D10', 'Sale'), ['store', 'sale'])
  assert.deepEqual(await parseHeader('H10', 'Layby  Update'), ['headOffice', 'laybyUpdate'])
  assert.deepEqual(await parseHeader('10', 'Exchange'), ['store', 'sale'])
})

const program = `<Program><Id>1</Id><Name>Rewards</Name><Description /><Currency>AUD</Currency>
  <Tiers Type="Array"><Tier><Id>1</Id><Name>Bronze</Name><Sequence>1</Sequence><AccrualSpend>1</AccrualSpend><AccrualPoints>1</AccrualPoints>
    <AutoRewardPointThreshold>0</AutoRewardPointThreshold><AutoRewardValue>10</AutoRewardValue>
    <DefaultPointsExpiry><Months>12</Months><Days>0</Days></DefaultPointsExpiry><DefaultRewardExpiry><Months/><Days/></DefaultRewardExpiry>
    <QualifySpend>500</QualifySpend><QualifyPeriod><Months/><Days/></QualifyPeriod></Tier></Tiers>
  <Gifts Type="Array"><Gift><Id>1</Id><Name/><Description>Socks</Description><GiftStyles Type="Array"><Style><Id>6861</Id><Code>MH01</Code></Style></GiftStyles></Gift></Gifts>
</Program>`

test('a rewards program has one row per tier and per gift', async () => {
  const document = await parseXmlDocument(program)
  assert.deepEqual(parseTiers(document, 2), [
    {
      program: { programId: '1', name: 'Rewards', description: null },
      tier: {
        programId: '1',
        tierId: '1',
        name: 'Bronze',
        sequence: 1,
        accrualSpend: '1.00',
        accrualPoints: 1,
        autoRewardPointThreshold: null,
        autoRewardValue: '10.00',
        qualifySpend: '500.00',
        qualifyMonths: null,
        qualifyDays: null,
        pointsExpiryMonths: 12,
        pointsExpiryDays: 0,
        rewardExpiryMonths: null,
        rewardExpiryDays: null,
      },
    },
  ])
  assert.deepEqual(parseGifts(document), [{ programId: '1', giftId: '1', name: 'Socks', styles: ['MH01'] }])
})

const account = `<RewardAccount><Id>1</Id><ProgramId>1</ProgramId><TierId>1</TierId><PersonId>3001</PersonId>
  <TierLockedUntilDate>2026-09-19</TierLockedUntilDate><AvailablePoints>100</AvailablePoints><JoinDate>2024-09-11</JoinDate>
  <NextTierId>41</NextTierId><SpendToNextTier>386</SpendToNextTier>
  <PointsList Type="Array"><Accrual><AccrualId>42181</AccrualId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><Description/><Total>100</Total><Redeemed>20</Redeemed>
    <PendingRedemption>0</PendingRedemption><Available>80</Available><ExpiryDate>2026-08-22</ExpiryDate></Accrual></PointsList>
  <RewardsList Type="Array"><Reward><IssueId>163421</IssueId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><Description>Birthday Reward</Description><Total>25</Total><ExpiryDate /></Reward></RewardsList>
  <GiftList Type="Array"><Gift><IssueId>301</IssueId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><GiftId>21</GiftId><GiftName>March Gift</GiftName><Available>false</Available></Gift></GiftList>
</RewardAccount>`

test('a reward account has its lots under either identifier name', async () => {
  const document = await parseXmlDocument(account)
  const qualifying = new Map([['1', new Map([['41', 50_000n]])]])
  assert.deepEqual(parseAccount(document, 2, qualifying), {
    id: '1',
    customerId: '3001',
    programId: '1',
    tierId: '1',
    tierLockedUntilDate: '2026-09-19',
    joinDate: '2024-09-11',
    qualifyingSpend: '114.00',
  })
  assert.equal('qualifyingSpend' in parseAccount(document, 2, new Map()), false)
  const createdAt = '2025-08-22 15:19:10'
  assert.deepEqual(parseLots(document, 2), {
    accountId: '1',
    lots: [
      {
        accountId: '1',
        kind: 'points',
        lotId: '42181',
        createdAt,
        description: null,
        total: '100',
        redeemed: '20',
        pending: '0',
        expiryDate: '2026-08-22',
      },
      {
        accountId: '1',
        kind: 'reward',
        lotId: '163421',
        createdAt,
        description: 'Birthday Reward',
        total: '25.00',
        redeemed: '0',
        pending: '0',
        expiryDate: null,
      },
      {
        accountId: '1',
        kind: 'gift',
        lotId: '301',
        createdAt,
        description: 'March Gift',
        total: '1',
        redeemed: '1',
        pending: '0',
        giftId: '21',
        expiryDate: null,
      },
    ],
  })
})

test('an account with empty lists and no tier is valid', async () => {
  const xml = `<RewardAccount><Id>7</Id><ProgramId>1</ProgramId><ProgramName /><Currency>AUD</Currency><TierId /><TierName /><PersonId>3001</PersonId>
    <TierLockedUntilDate /><JoinDate /><PointsToNextReward /><SpendToNextTier /><NextTierId /><PointsList Type="Array" /><GiftList Type="Array">
    <Gift><IssueId>301</IssueId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><GiftId>21</GiftId><GiftName>March Gift</GiftName><Available>False</Available><ExpiryDate /></Gift>
    </GiftList></RewardAccount>`
  const root = await parseXmlDocument(xml)
  assert.deepEqual(parseRewardAccount(root, 'AUD'), {
    id: '7',
    customerId: '3001',
    programId: '1',
    programName: '1',
    tierId: null,
    tierName: null,
    currency: 'AUD',
    tierLockedUntilDate: null,
    joinDate: null,
    availablePoints: 0,
    availableRewards: '0.00',
    pointsToNextReward: null,
    spendToNextTier: null,
    nextTierId: null,
    points: [],
    rewards: [],
    gifts: [{ id: '301', giftId: '21', name: 'March Gift', available: false, expiryDate: null }],
  })
})

test("points, rewards and gifts without issue time use the account's start", async () => {
  const sample = `<RewardAccount><Id>1</Id><ProgramId>1</ProgramId><ProgramName/><Currency>AUD</Currency><TierId>1</TierId><TierName>Bronze</TierName><PersonId>3001</PersonId>
  <TierLockedUntilDate>2026-09-19</TierLockedUntilDate><AvailablePoints>100</AvailablePoints><AvailableRewards>25</AvailableRewards>
  <JoinDate>2024-09-11</JoinDate><TierJoinDate>2024-09-19</TierJoinDate><PointsToNextReward>86</PointsToNextReward><SpendToNextReward>86</SpendToNextReward>
  <NextTierId>41</NextTierId><SpendToNextTier>386</SpendToNextTier>
  <PointsList Type="Array"><Accrual><AccrualId>42181</AccrualId><CreatedDateTime>2025-08-22T15:19:10</CreatedDateTime><Description/><Total>100</Total><Redeemed>0</Redeemed>
     <PendingRedemption>0</PendingRedemption><Available>100</Available><ExpiryDate>2026-08-22</ExpiryDate></Accrual></PointsList>
  <RewardsList Type="Array"><Reward><RewardId>163421</RewardId><CreatedDateTime/><Description>Birthday Reward</Description><Total>25</Total><Redeemed>0</Redeemed>
     <PendingRedemption>0</PendingRedemption><Available>25</Available><ExpiryDate>2026-08-22</ExpiryDate><IssueReason><Id>17665</Id><Code/><Name/></IssueReason></Reward></RewardsList>
  <GiftList Type="Array"><Gift><IssueId>301</IssueId><CreatedDateTime/><Description/><GiftId>21</GiftId><GiftName>March Gift</GiftName><Available>true</Available>
     <ExpiryDate>2026-12-05</ExpiryDate><IssueReason><Id/><Code/><Name/></IssueReason></Gift></GiftList>
</RewardAccount>`
  const read = parseRewardAccount(await parseXmlDocument(sample), 'AUD')
  assert.deepEqual([read.availablePoints, read.availableRewards, read.gifts.length], [100, '25.00', 1])
  assert.deepEqual(
    parseLots(await parseXmlDocument(sample), 2).lots.map(({ createdAt }) => createdAt),
    ['2025-08-22 15:19:10', '2024-09-11 00:00:00', '2024-09-11 00:00:00'],
  )
})
