import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCatalogue, checkTranslations, collectFrom, collectTexts } from '../../scripts/texts/collect.ts'
import { chooseLanguage } from '../../src/console/assets.ts'

test('every text of the console is in its catalogue', () => {
  const { texts, findings } = collectTexts()
  assert.ok(texts.length > 1_500, `${texts.length} texts`)
  assert.deepEqual(findings, [])
})

const collect = (source: string) => {
  const { texts, findings } = collectFrom('console/example.js', source)
  return { texts: texts.map(({ text }) => text), problems: findings.map(({ problem }) => problem) }
}

test('a literal that people see is reported', () => {
  const examples = {
    "const column = { title: 'Time' }": 'Time',
    "showToast('never')": 'never',
    'const text = `${count} open orders`': 'Xx open orders',
    "html`<b>${isOpen ? 'open' : t('closed')}</b>`": 'open',
    'html`<b class="card" title=${`Role of ${name}`}></b>`': 'Role of Xx',
    'html`<p>Role of ${name}</p>`': 'part of a sentence: Role of',
    'html`<p>See <a href="docs">the guide</a>.</p>`': 'part of a sentence: See',
    "const text = `${count} ${count === 1 ? t('day') : t('days')}`": 'a text and a value that must be one text',
    "const text = isOpen ? 'open' : t('closed')": 'open',
    't(name)': 't without a literal',
  }
  for (const [source, problem] of Object.entries(examples)) assert.equal(collect(source).problems[0], problem, source)
})

test('texts of templates and calls are collected, technical literals are not', () => {
  const source = `
    const route = linkTo('search', 'order', id)
    const tone = state === 'failed' ? 'bad' : 'good'
    html\`<section class="card" aria-label="Open orders" key=\${tone}>
      <h2>Orders</h2><code>tillbridge start</code>
      <label>Name <input name="customer name" placeholder="Any name" /></label>
      \${plural(count, '{count} order', '{count} orders')} \${rich('See <link>all</link>.', { link })}
    </section>\``
  assert.deepEqual(collect(source), {
    texts: ['Open orders', 'Orders', 'Name', 'Any name', '{count} orders', 'See <link>all</link>.'],
    problems: [],
  })
})

test('a translation must have the values and elements of its text', () => {
  const english = buildCatalogue()
  const check = (translated: Parameters<typeof checkTranslations>[1]) => checkTranslations(english, translated)
  assert.deepEqual(
    check({ Orders: 'Bestellungen', '{count} orders': { one: 'eine Bestellung', other: '{count} Bestellungen' } }),
    [],
  )
  assert.match(check({ Bestellungen: 'Orders' })[0] ?? '', /the console has no text "Bestellungen"/)
  assert.match(check({ 'Role of {username}': 'Rolle von {name}' })[0] ?? '', /must have the values and elements/)
  assert.match(check({ '{count} orders': { one: 'eine Bestellung' } })[0] ?? '', /must have the form "other"/)
})

test('the page has the language that the browser prefers', () => {
  const languages = ['en', 'de', 'fr']
  assert.equal(chooseLanguage('de-AT,de;q=0.9,en;q=0.8', languages), 'de')
  assert.equal(chooseLanguage('it,fr;q=0.5,en;q=0.7', languages), 'en')
  assert.equal(chooseLanguage('it', languages), 'en')
  assert.equal(chooseLanguage('fr;q=0', languages), 'en')
  assert.equal(chooseLanguage(undefined, languages), 'en')
})
