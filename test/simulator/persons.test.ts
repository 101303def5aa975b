import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createSender } from '../../simulator/send.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { findElement, findElements, findText } from '../../simulator/xml/payload.ts'

const now = '2026-02-03T05:32:15Z'
const simulator = await startSimulator({ now })
after(() => simulator.close())
beforeEach(() => {
  simulator.reset()
  simulator.set({
    release: '2025.1',
    elementOrder: 'strict',
    timestamps: 'bump',
    updatedAfter: 'after',
    onePersonRoot: 'Persons',
  })
  simulator.clock.freeze(now)
})
const send = createSender(() => simulator.url)

const billing = '<Addresses><Billing><AddressLine1>1 Sample St</AddressLine1></Billing></Addresses>'
const buildContacts = (address: string) => `<Contacts><Email>${address}</Email></Contacts>`
const buildPerson = (content: string) => `<Person>${content}</Person>`
const buildJo = (elements = `${billing}${buildContacts('jo@example.test')}`, before = '') =>
  buildPerson(`${before}<Firstname>Jo</Firstname><Surname>Sample</Surname>${elements}`)

async function createPerson(body = buildJo(), version = '2.0'): Promise<number> {
  const { status, headers, text } = await send('Persons/', { body, version })
  assert.deepEqual([status, text], [201, ''])
  const location = String(headers.get('location'))
  assert.match(location, new RegExp(`^${simulator.url}Persons/\\d+\\?countryCode=AU$`))
  return Number(/(\d+)\?/.exec(location)?.[1])
}
const getTimestamp = async (id: number) => findText((await send(`Persons/${id}`)).xml, 'UpdateTimeStamp') ?? ''
const putPerson = (id: number, content: string, version = '2.0') =>
  send(`Persons/${id}`, { method: 'PUT', body: buildPerson(content), version })
const getRejection = async (body: string) => {
  const { status, code } = await send('Persons', { body })
  return [status, code]
}

test('a new person has a generated code and two timestamp formats', async () => {
  const id = await createPerson()
  const { xml } = await send(`Persons/${id}`)
  assert.deepEqual([findText(xml, 'Code'), findText(xml, 'UpdateTimeStamp')], ['SAMPJO00', '3/02/2026 4:32:15 PM'])
  assert.equal(findText(xml, 'StartDate'), '2026-02-03')
  const timestamp = await send(`Persons/${id}/UpdateTimeStamp/`)
  assert.equal(timestamp.xml?.name, 'PersonUpdateTimeStamp')
  assert.equal(findText(timestamp.xml, 'UpdateTimeStamp'), '2026-02-03T16:32:15')
  const second = await createPerson(buildJo(`${billing}${buildContacts('other@example.test')}`))
  assert.equal(findText((await send(`Persons/${second}`)).xml, 'Code'), 'SAMPJO01')
})

test('empty elements are present, loyalties absent and passwords hidden', async () => {
  const id = await createPerson(
    buildJo(`${billing}${buildContacts('jo@example.test')}`, '').replace(
      '<Addresses>',
      '<Password>hash</Password><Addresses>',
    ),
  )
  const { text } = await send(`Persons/${id}`)
  assert.match(text, /<DateOfBirth \/>/)
  assert.match(text, /<Privacy>False<\/Privacy>/)
  assert.match(text, /<Reference><ReferenceTypeId>27<\/ReferenceTypeId><Id \/><\/Reference>/)
  assert.doesNotMatch(text, /Loyalties|Password|hash/)
})

test('a missing required person field is rejected by its code', async () => {
  assert.deepEqual(await getRejection(buildPerson('<Firstname>Jo</Firstname>')), [400, 5000])
  assert.deepEqual(await getRejection(buildPerson('<Surname>Sample</Surname>')), [400, 5001])
  assert.deepEqual(await getRejection(buildPerson('<firstname>Jo</firstname><Surname>Sample</Surname>')), [400, 5001])
  assert.deepEqual(await getRejection(buildJo('', '<Code>X1</Code>')), [400, 5003])
  assert.deepEqual(await getRejection(buildJo(`<Privacy>maybe</Privacy>`)), [400, 5111])
  assert.deepEqual(await getRejection(buildJo('<DateOfBirth>1/2/1990</DateOfBirth>')), [400, 5099])
  assert.deepEqual(await getRejection(buildJo('<DateOfBirth>1990-02-30</DateOfBirth>')), [403, 5144])
  assert.deepEqual(
    await getRejection(buildPerson('<Firstname>Jo</Firstname><Surname>Aaaaaaaaaaaaaaaaaaaaa</Surname>')),
    [403, 5014],
  )
  assert.equal(simulator.ledger.effects.length, 0)
})

test('an email belongs to one person', async () => {
  await createPerson()
  assert.deepEqual(await getRejection(buildJo(buildContacts('JO@example.test'))), [400, 5006])
})

test('references are checked for ID, type and required types', async () => {
  const buildWithReference = (type: number, referenceId: number | string) =>
    buildJo(
      `<References><Reference><ReferenceTypeId>${type}</ReferenceTypeId><Id>${referenceId}</Id></Reference></References>`,
    )
  assert.deepEqual(await getRejection(buildWithReference(1321, 99)), [400, 5089])
  assert.deepEqual(await getRejection(buildWithReference(1321, 4421)), [400, 5090])
  assert.deepEqual(await getRejection(buildWithReference(1321, 'x')), [400, 5109])
  simulator.set({ mandatoryPersonReferences: [1322] })
  assert.deepEqual(await getRejection(buildWithReference(1321, 4411)), [400, 5091])
  simulator.set({ mandatoryPersonReferences: [] })
  const id = await createPerson(buildWithReference(1321, 4411))
  assert.equal(simulator.state.persons.get(id)?.references.get(1321), 4411)
})

test('elements have an order', async () => {
  const wrongOrder = buildPerson('<Surname>Sample</Surname><Firstname>Jo</Firstname>')
  assert.deepEqual(await getRejection(wrongOrder), [403, 5121])
  const reference =
    '<References><Reference><Id>4411</Id><ReferenceTypeId>1321</ReferenceTypeId></Reference></References>'
  assert.deepEqual(await getRejection(buildJo(reference)), [403, 5121])
  simulator.set({ elementOrder: 'drop' })
  assert.deepEqual(await getRejection(wrongOrder), [400, 5001])
  simulator.set({ elementOrder: 'any' })
  await createPerson(wrongOrder)
})

test('unknown elements are ignored; other content is rejected', async () => {
  await createPerson(buildJo('<Nickname>J</Nickname>'))
  assert.deepEqual(await getRejection('<Person>'), [403, 5121])
  assert.deepEqual(await getRejection('<Customer />'), [403, 5121])
  const { code } = await send('Persons', { body: buildJo(), headers: { 'content-type': 'application/json' } })
  assert.equal(code, 5122)
})

test('a PUT clears omitted fields except custom data', async () => {
  const custom =
    '<CustomData><Cards><Card Name="Marketing"><Fields><Field Name="EmailOptIn">true</Field></Fields></Card></Cards></CustomData>'
  const id = await createPerson(
    buildJo(`<Sex>F</Sex><JobTitle>Cook</JobTitle>${custom}${billing}${buildContacts('jo@example.test')}`),
  )
  const { status, text } = await putPerson(
    id,
    `<Firstname>Jo</Firstname><Surname>Sample</Surname><UpdateTimeStamp>${await getTimestamp(id)}</UpdateTimeStamp>${billing}${buildContacts('jo@example.test')}`,
  )
  assert.deepEqual([status, text], [200, ''])
  const updated = simulator.state.persons.get(id)
  assert.deepEqual([updated?.sex, updated?.jobTitle, updated?.startDate], ['', '', ''])
  const response = await send(`Persons/${id}?CustomData=true`)
  assert.match(response.text, /<Card Name="Marketing"><Fields Type="Array"><Field Name="EmailOptIn">true/)
  assert.doesNotMatch((await send(`Persons/${id}`)).text, /CustomData/)
})

test('a PUT needs the stored timestamp and reports both otherwise', async () => {
  const id = await createPerson()
  const buildBody = (timestamp: string) =>
    `<Firstname>Jo</Firstname><Surname>Sample</Surname>${timestamp}${billing}${buildContacts('jo@example.test')}`
  const stored = await getTimestamp(id)
  for (const timestamp of [
    '',
    '<UpdateTimeStamp>2026-02-03T16:32:15</UpdateTimeStamp>',
    '<UpdateTimeStamp>3/02/2026 4:32:14 PM</UpdateTimeStamp>',
  ]) {
    const { status, code, text } = await putPerson(id, buildBody(timestamp))
    assert.deepEqual([status, code], [400, 5010])
    assert.ok(text.includes(`to ${stored}`))
  }
  const good = buildBody(`<UpdateTimeStamp>${stored}</UpdateTimeStamp>`)
  assert.equal((await putPerson(id, good)).status, 200)
  assert.equal((await putPerson(id, good)).code, 5010, 'the old timestamp is rejected even within the same second')
})

test('a PUT needs email, billing address and matching ID', async () => {
  const id = await createPerson()
  const timestamp = `<UpdateTimeStamp>${await getTimestamp(id)}</UpdateTimeStamp>`
  const names = `<Firstname>Jo</Firstname><Surname>Sample</Surname>${timestamp}`
  assert.equal((await putPerson(id, `${names}${billing}`)).code, 5004)
  assert.equal((await putPerson(id, `${names}${buildContacts('jo@example.test')}`)).code, 5005)
  assert.equal((await putPerson(id, `<Id>1</Id>${names}${billing}${buildContacts('jo@example.test')}`)).code, 5151)
  assert.equal((await putPerson(99_999, names)).code, 5008)
})

test('loyalties omitted by a PUT stay or become inactive by version', async () => {
  const loyalty = '<Loyalties><Loyalty><LoyaltyTypeId>8561</LoyaltyTypeId><CardNo>LM77</CardNo></Loyalty></Loyalties>'
  const id = await createPerson(buildJo(`${billing}${buildContacts('jo@example.test')}${loyalty}`))
  const buildBody = async (elements = '') =>
    `<Firstname>Jo</Firstname><Surname>Sample</Surname><UpdateTimeStamp>${await getTimestamp(id)}</UpdateTimeStamp>${billing}${buildContacts('jo@example.test')}${elements}`
  assert.equal((await putPerson(id, await buildBody())).status, 200)
  const listCards = async () =>
    findElements(findElement((await send(`Persons/${id}`)).xml, 'Loyalties'), 'Loyalty').map(card =>
      findText(card, 'CardNo'),
    )
  assert.deepEqual(await listCards(), ['LM77'])
  assert.equal((await putPerson(id, await buildBody(loyalty))).code, 5103)
  assert.equal((await putPerson(id, await buildBody(), '3.0')).status, 200)
  assert.deepEqual(await listCards(), [])
})

test('loyalty cards are checked', async () => {
  const buildWithCard = (content: string) => buildJo(`<Loyalties><Loyalty>${content}</Loyalty></Loyalties>`)
  const accepted = [...simulator.state.persons.values()].flatMap(({ loyalties }) => loyalties)[0]?.cardNumber
  assert.deepEqual(await getRejection(buildWithCard('<CardNo>LM1</CardNo>')), [400, 5101])
  assert.deepEqual(await getRejection(buildWithCard('<LoyaltyTypeId>1</LoyaltyTypeId>')), [400, 5106])
  assert.deepEqual(
    await getRejection(buildWithCard('<LoyaltyTypeId>8561</LoyaltyTypeId><CardNo>XX1</CardNo>')),
    [400, 5104],
  )
  assert.deepEqual(await getRejection(buildWithCard('<LoyaltyTypeId>8561</LoyaltyTypeId><CardNo />')), [400, 5105])
  assert.deepEqual(
    await getRejection(buildWithCard(`<LoyaltyTypeId>8561</LoyaltyTypeId><CardNo>${accepted}</CardNo>`)),
    [400, 5102],
  )
})

test('a search returns a list, or 5008 without results', async () => {
  await createPerson(buildJo(buildContacts('jo+shop@example.test')))
  const { xml } = await send('Persons?email=jo%2Bshop@example.test')
  assert.deepEqual([xml?.name, xml?.children.length], ['Persons', 1])
  const { status, code } = await send('Persons?email=nobody@example.test')
  assert.deepEqual([status, code], [404, 5008])
  simulator.set({ onePersonRoot: 'Person' })
  assert.equal((await send('Persons?email=jo%2Bshop@example.test')).xml?.name, 'Person')
})

test('filters are combined; a phone filter matches any number', async () => {
  const phones = '<Contacts><Email>jo@example.test</Email><Phones><Work>0391110000</Work></Phones></Contacts>'
  await createPerson(buildJo(phones))
  const countPersons = async (query: string) =>
    (await send(`Persons?${query}`)).xml?.children.filter(({ name }) => name === 'Person').length
  assert.equal(await countPersons('phone=0391110000'), 1)
  assert.equal(await countPersons('surname=samp&firstname=jo&code=SAMPJO00'), 1)
  assert.equal(await countPersons('surname=samp&firstname=al'), 0)
})

test('UpdatedAfter filters from 2022.1 on and is ignored before', async () => {
  simulator.clock.advance(60)
  const id = await createPerson()
  const readIds = async (since: string) =>
    (await send(`Persons/?UpdatedAfter=${since}`, { version: '1.0' })).xml?.children.map(child =>
      Number(findText(child, 'Id')),
    )
  assert.deepEqual(await readIds('2026-02-03T16:32:15'), [id])
  assert.equal((await send('Persons?UpdatedAfter=2026-02-03T16:33:15')).code, 5008)
  simulator.set({ updatedAfter: 'from' })
  assert.deepEqual(await readIds('2026-02-03T16:33:15'), [id])
  assert.equal((await send('Persons?UpdatedAfter=yesterday')).code, 5144)
  simulator.set({ release: '2021.3' })
  const allPersons = await send('Persons?UpdatedAfter=2026-02-03T16:33:15&startRow=1&pageRows=2')
  assert.equal(allPersons.xml?.children.length, 301)
  assert.equal(allPersons.xml?.attributes.TotalRows, undefined)
})

test('a till docket can be claimed once', async () => {
  const docket = simulator.state.transactions.find(({ personId }) => personId === null)?.number
  const id = await createPerson(buildJo(`<DocketNumber>${docket}</DocketNumber>`))
  assert.match((await send(`Persons/${id}/RetailTransactions`)).text, new RegExp(`<Number>${docket}</Number>`))
  const again = `<Person><Firstname>A</Firstname><Surname>B</Surname><DocketNumber>${docket}</DocketNumber></Person>`
  assert.deepEqual(await getRejection(again), [403, 5209])
  assert.deepEqual(await getRejection(again.replace(String(docket), 'D0')), [403, 5210])
})
