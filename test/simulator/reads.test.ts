import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findElements, findText } from '../../simulator/xml/payload.ts'

const simulator = await startSimulator({ now: '2026-02-03T05:32:15Z' })
after(() => simulator.close())
beforeEach(() => simulator.set({ release: '2025.1', pastEnd: 'empty', transactionStoreCode: 'number' }))
const send = createSender(() => simulator.url)

const { state } = simulator
const findBusiest = () => {
  const counts = new Map<number, number>()
  for (const { personId } of state.transactions)
    if (personId !== null) counts.set(personId, (counts.get(personId) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0] ?? [0, 0]
}

test('unpaged lists count their rows in different ways', async () => {
  const readAttributes = async (path: string) => {
    const { TotalRows, PageStartRow, PageRows } = (await send(path)).xml?.attributes ?? {}
    return [Number(TotalRows) > 0, PageStartRow, PageRows === TotalRows ? 'all' : PageRows]
  }
  assert.deepEqual(await readAttributes('Products'), [true, '1', 'all'])
  assert.deepEqual(await readAttributes('Freestock/AllStyles'), [true, '1', '0'])
  assert.deepEqual(await readAttributes(`Persons/${findBusiest()[0]}/RetailTransactions`), [true, '0', '0'])
})

test('pages add up to the list, and rows have positions', async () => {
  const ids: string[] = []
  for (let start = 1; start <= 61; start += 25) {
    const { xml } = await send(`ProductsSimple?startRow=${start}&pageRows=25`)
    assert.deepEqual([xml?.attributes.TotalRows, xml?.attributes.PageStartRow], ['61', String(start)])
    const rows = findElements(xml, 'ProductSimple')
    assert.equal(findText(rows[0], 'RowNumber'), String(start))
    ids.push(...rows.map(row => findText(row, 'Id') ?? ''))
  }
  assert.equal(new Set(ids).size, 61)
})

test('a page past the end is empty or as configured', async () => {
  const past = 'Persons?startRow=1000&pageRows=10'
  const empty = await send(past)
  assert.deepEqual([empty.status, empty.text], [200, ''])
  simulator.set({ pastEnd: '5008' })
  assert.equal((await send(past)).code, 5008)
  simulator.set({ pastEnd: 'list' })
  const { xml } = await send(past)
  assert.deepEqual([xml?.attributes.TotalRows, xml?.children.length], ['300', 0])
})

test('invalid paging parameters are rejected', async () => {
  for (const query of ['startRow=0', 'startRow=a', 'pageRows=-1', 'startRow=1&pageRows=0']) {
    const { status, code } = await send(`Products?${query}`)
    assert.deepEqual([status, code], [400, 5034], query)
  }
})

test('products change with updatedAfter, code, colours and SKUs', async () => {
  const style = [...state.styles.values()].find(({ colours }) => colours.length > 1)
  assert.ok(style)
  simulator.change({ kind: 'edit-style', id: style.id, fields: { name: 'CHANGED & NEW' } })
  const since = new Date(simulator.clock.now() - 60_000 + 11 * 3_600_000).toISOString().slice(0, 19)
  const changed = await send(`ProductsSimple?updatedAfter=${since}`)
  assert.deepEqual(
    findElements(changed.xml, 'ProductSimple').map(product => findText(product, 'Id')),
    [String(style.id)],
  )
  const byCode = await send(`Products?styleCode=${style.code.toLowerCase()}`)
  assert.deepEqual([byCode.xml?.attributes.FromCache, byCode.xml?.children.length], ['false', 1])
  const { xml } = await send(`Products/${style.id}`)
  assert.equal(findText(xml, 'Name'), 'CHANGED & NEW')
  assert.equal(findElements(findElement(xml, 'Clrs'), 'Clr').length, style.colours.length)
  assert.equal(findText(findElement(xml, 'Clrs', 'Clr', 'SKUs', 'SKU'), 'Id'), String(style.colours[0]?.skus[0]?.id))
})

test('prices depend on the country; images need payload version 4', async () => {
  const readPrice = async (country: string) =>
    Number(findText((await send('ProductsSimple/5001', { country })).xml, 'PriceFrom'))
  assert.ok(Math.abs((await readPrice('NZ')) - (await readPrice('AU')) * 1.1) < 0.01)
  assert.doesNotMatch((await send('Products/5001?imageUrls=true')).text, /<Images/)
  assert.match((await send('Products/5001?imageUrls=true', { version: '4.0' })).text, /<Images/)
})

test('texts keep line breaks and whitespace like the real system', async () => {
  const { text } = await send('Products')
  assert.match(text, /&amp; light\.&#xD;\nWash cold/)
  assert.match((await send('Stores')).text, /Airport <\/Name>/)
})

test('references are listed by type under a lowercase root', async () => {
  const { xml } = await send('References/272')
  assert.equal(xml?.name, 'ReferencesbyType')
  assert.equal(findText(xml, 'ReferenceTypeCode'), 'RetRetrn')
  assert.ok(
    findElements(findElement(xml, 'References'), 'Reference').some(reference => findText(reference, 'Id') === '10365'),
  )
  assert.equal((await send('References/272/10365')).xml?.name, 'ReferencesbyType')
  assert.equal((await send('References/99999')).code, 5008)
  const types = await send('PersonReferenceTypes', { version: '1.0' })
  assert.equal(findElements(findElement(types.xml, 'ReferenceTypes'), 'Reference').length, 4)
})

test('a history shows midnight, negative returns and no item IDs', async () => {
  const sale = state.transactions.find(({ personId, lines }) => personId !== null && (lines[0]?.quantity ?? 0) < 0)
  const { text, xml } = await send(`Persons/${sale?.personId}/RetailTransactions`)
  assert.match(text, /<SaleDate>\d{4}-\d\d-\d\dT00:00:00</)
  assert.doesNotMatch(text, /SkuId|ProductId|StoreId/)
  const transaction = findElements(xml, 'Transaction').find(element => findText(element, 'Id') === String(sale?.id))
  assert.equal(findText(findElement(transaction, 'Details', 'Detail'), 'Quantity'), '-1')
  assert.ok(Number(findText(findElement(transaction, 'Details', 'Detail'), 'Value')) < 0)
})

test('a history can be filtered by order and shows stores', async () => {
  const sale = state.transactions.find(({ orderNumber }) => orderNumber !== '')
  const { xml } = await send(`Persons/${sale?.personId}/RetailTransactions?OrderNumber=${sale?.orderNumber}`)
  assert.equal(xml?.attributes.TotalRows, '1')
  assert.equal(findText(findElement(xml, 'Transaction'), 'StoreCode'), '999')
  simulator.set({ transactionStoreCode: 'code' })
  assert.match((await send(`Persons/${sale?.personId}/RetailTransactions`)).text, /<StoreCode>S7/)
})

test('an empty history and an unknown person are 5008', async () => {
  const bought = new Set(state.transactions.map(({ personId }) => personId))
  const personWithoutSale = [...state.persons.keys()].find(id => !bought.has(id))
  assert.equal((await send(`Persons/${personWithoutSale}/RetailTransactions`)).code, 5008)
  assert.equal((await send('Persons/1/RetailTransactions')).code, 5008)
})

test('an account lists unexpired rewards and is found by person', async () => {
  const account = [...state.accounts.values()].find(({ points }) =>
    points.some(lot => lot.expires && lot.expires < '2026-02-03'),
  )
  assert.ok(account)
  const person = await send(`Persons/${account.personId}`)
  assert.equal(findText(findElement(person.xml, 'RewardsAccounts', 'Account'), 'Id'), String(account.id))
  const { xml } = await send(`Rewards/Accounts/${account.id}`, { version: '1.0' })
  const lots = findElements(findElement(xml, 'PointsList'), 'Accrual')
  const unexpired = account.points.filter(lot => lot.expires === '' || lot.expires >= '2026-02-03')
  assert.deepEqual(
    lots.map(lot => findText(lot, 'AccrualId')),
    unexpired.map(lot => String(lot.id)),
  )
  const free = unexpired.reduce((sum, lot) => sum + lot.total - lot.redeemed, 0)
  assert.equal(Number(findText(xml, 'AvailablePoints')), free)
  const { status, code } = await send('Rewards/Accounts/99999')
  assert.deepEqual([status, code], [403, 5152])
})

test('the highest tier has empty next-tier elements', async () => {
  const gold = [...state.accounts.values()].find(({ tierId }) => tierId === 41)
  assert.match((await send(`Rewards/Accounts/${gold?.id}`)).text, /<NextTierId \/><SpendToNextTier \/>/)
})

test('an account can be opened once and change tiers', async () => {
  const person = [...state.persons.keys()].find(personId => !state.accountsByPerson.has(personId))
  const buildBody = (content: string) => `<RewardAccount>${content}</RewardAccount>`
  const opened = await send('Rewards/Accounts', {
    body: buildBody(`<ProgramId>1</ProgramId><PersonId>${person}</PersonId>`),
    version: '1.0',
  })
  assert.deepEqual([opened.status, opened.xml?.name], [201, 'RewardAccount'])
  assert.equal(
    (await send('Rewards/Accounts', { body: buildBody(`<ProgramId>1</ProgramId><PersonId>${person}</PersonId>`) }))
      .code,
    5161,
  )
  const id = findText(opened.xml, 'Id')
  const changed = await send(`Rewards/Accounts/${id}`, { method: 'PUT', body: buildBody('<TierId>41</TierId>') })
  assert.equal(findText(changed.xml, 'TierName'), 'Gold')
  assert.equal(
    (await send(`Rewards/Accounts/${id}`, { method: 'PUT', body: buildBody('<TierId>9</TierId>') })).code,
    5159,
  )
})

const findRichest = () => {
  const openTotal = (lots: { total: number; redeemed: number; pending: number; expires: string }[]) =>
    lots
      .filter(lot => lot.expires === '' || lot.expires >= '2026-02-03')
      .reduce((sum, lot) => sum + lot.total - lot.redeemed - lot.pending, 0)
  const account = [...state.accounts.values()].find(
    ({ points, rewards }) => openTotal(points) > 0 && openTotal(rewards) > 20,
  )
  assert.ok(account)
  return account
}
const buildRequestId = (digit: string) => `${digit.repeat(8)}-${`${digit.repeat(4)}-`.repeat(3)}${digit.repeat(12)}`
const redeem = (path: string, content: string) =>
  send(`Rewards/Accounts/${path}/Redemptions`, {
    body: `<RewardRedemption>${content}</RewardRedemption>`,
    version: '1.0',
  })
const getBalance = async (accountId: number) => {
  const { xml } = await send(`Rewards/Accounts/${accountId}`, { version: '1.0' })
  const pending = findElements(findElement(xml, 'RewardsList'), 'Reward').map(lot =>
    Number(findText(lot, 'PendingRedemption')),
  )
  return {
    available: Number(findText(xml, 'AvailableRewards')),
    pending: pending.reduce((sum, points) => sum + points, 0),
  }
}

test('a pending redemption is confirmed or reversed exactly once', async () => {
  const { id } = findRichest()
  const { available } = await getBalance(id)
  const [first, second] = [buildRequestId('a'), buildRequestId('b')]
  for (const page of [first, second])
    assert.equal((await redeem(`${id}/Rewards`, `<RequestId>${page}</RequestId><Amount>10</Amount>`)).status, 201)
  assert.deepEqual(await getBalance(id), { available: available - 20, pending: 20 })
  assert.equal((await send(`Rewards/Confirmation?requestId=${first}`, { method: 'POST' })).status, 201)
  assert.equal((await send(`Rewards/Reversal?requestId=${second}`, { method: 'POST' })).status, 201)
  assert.deepEqual(await getBalance(id), { available: available - 10, pending: 0 })
  for (const path of [`Confirmation?requestId=${second}`, `Reversal?requestId=${first}`])
    assert.equal((await send(`Rewards/${path}`, { method: 'POST' })).code, 5163)
})

test('a redemption is rejected if its request or amount is invalid', async () => {
  const { id, personId } = findRichest()
  const getCode = async (kind: string, content: string) => (await redeem(`${id}/${kind}`, content)).code
  const request = `<RequestId>${buildRequestId('c')}</RequestId>`
  assert.equal(await getCode('Rewards', '<Amount>10</Amount>'), 5164)
  assert.equal(await getCode('Rewards', '<RequestId>1</RequestId><Amount>10</Amount>'), 5165)
  assert.equal(await getCode('Rewards', `${request}<PersonId>${personId + 1}</PersonId><Amount>10</Amount>`), 5155)
  assert.equal(await getCode('Points', `${request}<Points>-1</Points>`), 5153)
  assert.equal(await getCode('Rewards', `${request}<Amount>0</Amount>`), 5154)
  assert.equal(await getCode('Points', `${request}<Points>999999</Points>`), 5156)
  assert.equal(await getCode('Rewards', `${request}<Amount>999999</Amount>`), 5157)
  assert.equal((await redeem('99999/Rewards', `${request}<Amount>1</Amount>`)).code, 5152)
  assert.equal(await getCode('Points', `${request}<Points>1</Points><AutoConfirm>true</AutoConfirm>`), undefined)
  assert.equal(await getCode('Points', `${request}<Points>1</Points>`), 5163)
  assert.equal((await send('Rewards/Confirmation', { method: 'POST' })).code, 5158)
  assert.equal((await send(`Rewards/Reversal?requestId=${buildRequestId('d')}`, { method: 'POST' })).code, 5165)
})

test('a redemption is reversed only within 24 hours', async () => {
  const { id } = findRichest()
  const request = buildRequestId('e')
  assert.equal((await redeem(`${id}/Rewards`, `<RequestId>${request}</RequestId><Amount>1</Amount>`)).status, 201)
  simulator.clock.advance(86_401)
  assert.equal((await send(`Rewards/Reversal?requestId=${request}`, { method: 'POST' })).code, 5165)
  simulator.clock.advance(-86_401)
})

test('programs list tiers and gifts; simple feeds are not licensed', async () => {
  const { xml } = await send('Rewards/Programs', { version: '1.0' })
  assert.equal(findElements(findElement(xml, 'Program', 'Tiers'), 'Tier').length, 3)
  assert.equal((await send('Rewards/RewardsSimple')).code, 5247)
  simulator.set({ release: '2023.2' })
  assert.match((await send('Rewards/RewardsSimple')).text, /<title>404/)
})
