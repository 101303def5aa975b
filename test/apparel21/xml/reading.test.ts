import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import {
  buildPayload,
  type Content,
  type Field,
  type Fields,
  orderFields,
} from '../../../src/backoffice/apparel21/xml/payload.ts'
import { readText } from '../../../src/backoffice/apparel21/xml/values.ts'
import { readDocument, readRecords, type Xml, XmlError } from '../../../src/backoffice/apparel21/xml/xml.ts'
import { ApiError } from '../../../src/errors/api-error.ts'

/** Yields content in chunks of `length` bytes. */
async function* toChunks(content: string | Buffer, length = 7): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.from(content as string)
  for (let at = 0; at < buffer.length; at += length) yield buffer.subarray(at, at + length)
}

const parse = async (content: string | Buffer, root: string, length?: number) => {
  const parsed = await readDocument(toChunks(content, length), [root])
  assert.ok(parsed)
  return parsed
}

const assertRejected = (content: string | Buffer, root = 'a') => assert.rejects(parse(content, root), XmlError)

const buildList = (body: string) => `<?xml version="1.0" encoding="utf-8"?><Stores TotalRows="2">${body}</Stores>`

test("the records of a list are streamed with their root's attributes", async () => {
  const { root, records } = await readRecords(
    toChunks(buildList('\n <Store><Name>A</Name></Store>\n <Store><Name>B</Name></Store>')),
    { roots: ['Stores'], record: 'Store' },
  )
  assert.equal(root?.attributes.TotalRows, '2')
  const names = await Array.fromAsync(records, store => readText(store, 'Name'))
  assert.deepEqual([names, root?.children], [['A', 'B'], []])
})

test('a single record can be the root', async () => {
  const { records } = await readRecords(toChunks('<Person><Id>7</Id></Person>'), {
    roots: ['Persons', 'Person'],
    record: 'Person',
  })
  assert.deepEqual(await Array.fromAsync(records, person => readText(person, 'Id')), ['7'])
})

test('an empty body has no root and is valid', async () => {
  for (const empty of ['', '\uFEFF', ' \n'])
    assert.equal(await readDocument(toChunks(Buffer.from(empty)), ['Stores']), undefined)
})

test('a built document is parsed unchanged for any text and chunking', async () => {
  const name = fc.constantFrom('Name', 'Address1', 'SKUs', 'x')
  const character = fc
    .oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom('&', '<', '"', '\r', ']]>', '😀'))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that XML excludes
    .filter(part => part.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(part))
  const words = fc.array(character, { minLength: 1, maxLength: 20 }).map(parts => parts.join(''))
  const { fields } = fc.letrec<{ fields: Fields; field: Field }>(tie => ({
    field: fc.oneof(
      { withCrossShrink: true },
      fc.tuple(name, words),
      fc.tuple(name, words, fc.dictionary(name, words, { maxKeys: 2, noNullPrototype: true })),
      fc.tuple(name, tie('fields')),
    ),
    fields: fc.array(tie('field'), { minLength: 1, maxLength: 3 }),
  }))
  const toTree = ({ name: elementName, attributes, text, children }: Xml): unknown => [
    elementName,
    children.length ? children.map(toTree) : text,
    Object.keys(attributes).length ? { ...attributes } : undefined,
  ]
  const toExpected = ([fieldName, content, attributes]: Field): unknown => [
    fieldName,
    Array.isArray(content) ? content.map(toExpected) : content,
    attributes && Object.keys(attributes).length ? attributes : undefined,
  ]
  await fc.assert(
    fc.asyncProperty(fields, fc.integer({ min: 1, max: 50 }), async (tree, length) => {
      const built = buildPayload('Root', tree)
      assert.match(built, /^[\x20-\x7e\n]*$/)
      assert.deepEqual((await parse(built, 'Root', length)).children.map(toTree), tree.map(toExpected))
    }),
    { numRuns: 300 },
  )
})

test('a payload keeps its order and omits undefined and empty elements', () => {
  const fields: Fields = [
    ['Id', 7],
    ['Title', ''],
    ['Sex', null],
    ['Privacy', false],
    ['Code', undefined],
    ['Discounts', [['Discount', []]]],
    ['CustomData', [['Card', [['Field', 'x', { Name: 'a"b' }]], { Name: 'Web' }]]],
  ]
  assert.equal(
    buildPayload('Person', fields),
    '<?xml version="1.0" encoding="utf-8"?><Person><Id>7</Id><Title /><Sex /><Privacy>false</Privacy><CustomData><Card Name="Web"><Field Name="a&quot;b">x</Field></Card></CustomData></Person>',
  )
  assert.equal(buildPayload('Person', []), '<?xml version="1.0" encoding="utf-8"?><Person />')
})

test('a template defines the order and all names of a payload', () => {
  const template = ['Id', 'Firstname', 'Surname'] as const
  assert.deepEqual(orderFields(template, { Surname: 'B', Id: 1 }), [
    ['Id', 1],
    ['Surname', 'B'],
  ])
  assert.throws(() => orderFields(template, { surname: 'B' } as Record<string, Content>), /lacks surname/)
})

test('a character invalid in XML is rejected before sending', () => {
  for (const character of ['\u0000', '\u000b', '\ufffe', '\ud800'])
    assert.throws(
      () => buildPayload('a', [['Name', `x${character}y`]]),
      (error: unknown) => error instanceof ApiError && error.code === 'invalid_field',
    )
})

test('a document type declaration is rejected immediately', async () => {
  const bomb = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;"><!ENTITY f SYSTEM "file:///etc/passwd">]><a>&y;&f;</a>'
  await assertRejected(bomb)
  await assertRejected(`<?xml version="1.0"?>\n${bomb}`)
  await assertRejected('<!DOCTYPE a><a>x</a>')
  await assertRejected('<a>&file;</a>')
})

test('malformed or incomplete XML is rejected', async () => {
  for (const content of ['<a>', '<a><b></a>', '<a>&</a>', 'a', '<a/><a/>', '<a>\u0001</a>', '<b/>', '<html/>'])
    await assertRejected(content)
  await assertRejected(Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]))
})

test('references to control characters become whitespace for any chunking', async () => {
  const content = '<a><b>x&#x1F;y&#11;z&#x0;</b><c d="&#x001f;">1 &amp; 2&#10;&#x9;&#65;&amp;#x1F;</c></a>'
  for (let length = 1; length < content.length; length++) {
    const [b, c] = (await parse(content, 'a', length)).children
    assert.deepEqual([b?.text, c?.text, c?.attributes.d], ['x y z ', '1 & 2\n\tA&#x1F;', ' '])
  }
  await assertRejected('<a>&#xFFFE;</a>')
  await assertRejected('<a>&</a>')
  await assertRejected('<a>x</a>&#x1')
})

test('complete records are read before an error is reported', async () => {
  const { records } = await readRecords(toChunks(buildList('<Store><Name>A</Name></Store><Store><Na').slice(0, -9)), {
    roots: ['Stores'],
    record: 'Store',
  })
  assert.equal(readText((await records.next()).value as Xml, 'Name'), 'A')
  await assert.rejects(records.next(), XmlError)
})

test('a too deep, wide or long document is rejected', async () => {
  await assertRejected(`${'<a>'.repeat(40)}${'</a>'.repeat(40)}`)
  const yieldLongText = async function* () {
    yield Buffer.from('<a>')
    for (;;) yield Buffer.alloc(65_536, 'x')
  }
  await assert.rejects(readDocument(yieldLongText(), ['a']), XmlError)
  const yieldLongDoctype = async function* () {
    yield Buffer.from('<!DOCTYPE ')
    for (;;) yield Buffer.alloc(65_536, 'x')
  }
  await assert.rejects(readDocument(yieldLongDoctype(), ['a']), XmlError)
  const yieldManyElements = async function* () {
    yield Buffer.from('<FreeStock>')
    for (;;) yield Buffer.from('<Store FreeStock="1" />'.repeat(500))
  }
  const { records } = await readRecords(yieldManyElements(), { roots: ['FreeStock'], record: 'Style' })
  await assert.rejects(records.next(), XmlError)
})

test('a list of 54 MB needs no more memory than a page', async () => {
  const store = '<Store Name="Collins Street" StoreId="7101" StoreNumber="101" FreeStock="4" />'
  const buildStyle = (id: number) =>
    `<Style Name="SAMPLE TEE" StyleIdx="${id}"><Clr Name="Black" ClrIdx="1"><Sku Name="S" SkuIdx="${id}">${store.repeat(50)}</Sku></Clr></Style>\n`
  const size = 54 * 1024 ** 2
  let sentBytes = 0
  async function* buildBody() {
    yield Buffer.from('<FreeStock TotalRows="1">')
    for (let id = 1; sentBytes < size; id++) {
      const part = Buffer.from(buildStyle(id))
      sentBytes += part.length
      yield part
    }
    yield Buffer.from('</FreeStock>')
  }
  const { root, records } = await readRecords(buildBody(), { roots: ['FreeStock'], record: 'Style' })
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const measureHeap = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = measureHeap()
  let [count, peakBytes] = [0, 0]
  for await (const record of records) {
    assert.equal(record.children[0]?.children[0]?.children.length, 50)
    if (++count % 1_000 === 0) peakBytes = Math.max(peakBytes, measureHeap() - before)
  }
  assert.ok(sentBytes >= size && count > 10_000, `${count} records`)
  assert.deepEqual([root?.children, root?.text], [[], ''])
  assert.ok(peakBytes < 8 * 1024 ** 2, `${peakBytes >> 20} MB more than before`)
})
