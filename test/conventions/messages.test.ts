import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { extractPassages } from '../../scripts/prose/extract.ts'
import { statesRule } from '../../scripts/prose/plain-english.ts'
import { buildProgram } from '../../src/commands/program.ts'
import { ConfigError, readConfig, settings } from '../../src/config/config.ts'
import { errorCodes } from '../../src/errors/api-error.ts'
import { validateBody } from '../../src/http/body/validate.ts'
import { parseQuery } from '../../src/http/routing/query.ts'
import { routes } from '../../src/resources/resources.ts'
import type { TSchema } from '../../src/schemas/schemas.ts'

const root = new URL('../../', import.meta.url)

/** Returns the messages that state a rule as a fact, each with its origin. */
const findRulesStatedAsFacts = (messages: Iterable<readonly [origin: string, message: string]>) =>
  [...messages].filter(([, message]) => statesRule(message)).map(([origin, message]) => `${origin}: ${message}`)

interface JsonSchema {
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  anyOf?: readonly JsonSchema[]
}

const invalidValues = [null, true, -1, 0.5, 1e9, '', ' x ', 'a\u0000b', '?', 'x'.repeat(6_000), [], {}, { unknown: 1 }]

/** Yields values that break one rule of a schema each: a rule of the value, of a field or of an entry. */
function* breakRules({ properties = {}, items, anyOf = [] }: JsonSchema): Generator<unknown> {
  yield* invalidValues
  for (const [name, field] of Object.entries(properties)) for (const value of breakRules(field)) yield { [name]: value }
  if (items) for (const value of breakRules(items)) yield [value, value]
  for (const choice of anyOf) yield* breakRules(choice)
}

const findBodyErrors = (schema: TSchema) =>
  [...breakRules(schema as JsonSchema)].flatMap(body => validateBody(schema, body, { currency: 'AUD' }))

const invalidQueries = (names: readonly string[]) => [
  'unknown=1',
  ...names.flatMap(name =>
    ['', '?', '-1', '101', '%00', '%ff', 'x'.repeat(600), `1&${name}=2`].map(value => `${name}=${value}`),
  ),
]

test('titles and remedies of errors state no rule as a fact', () => {
  const messages = Object.entries(errorCodes).flatMap(([code, { title, remedy }]) => [
    [code, title] as const,
    [code, remedy] as const,
  ])
  assert.ok(messages.length > 100)
  assert.deepEqual(findRulesStatedAsFacts(messages), [])
})

test('the configuration reports every invalid value as a requirement', () => {
  const messages: [string, string][] = []
  for (const name of Object.keys(settings))
    for (const value of ['?', '-1', 'a b', 'x'.repeat(300), '999999999'])
      try {
        readConfig({ [name]: value })
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error))
        messages.push(...error.message.split('\n').map(line => [name, line] as [string, string]))
      }
  assert.ok(new Set(messages.map(([name]) => name)).size > 25)
  assert.deepEqual(findRulesStatedAsFacts(messages), [])
})

test('descriptions of commands, arguments and options state no rule as a fact', async () => {
  const messages: [string, string][] = []
  const visit = (command: Command, path: string) => {
    messages.push([path, command.description()])
    for (const { name, description } of command.registeredArguments.map(argument => ({
      name: argument.name(),
      description: argument.description,
    })))
      messages.push([`${path} <${name}>`, description])
    for (const { flags, description } of command.options) messages.push([`${path} ${flags}`, description])
    for (const child of command.commands) visit(child, `${path} ${child.name()}`)
  }
  visit(await buildProgram(), 'tillbridge')
  assert.ok(messages.length > 100)
  assert.deepEqual(findRulesStatedAsFacts(messages), [])
})

test('errors of request bodies and queries state no rule as a fact', () => {
  const messages = routes.flatMap(route => {
    const { operationId } = route.operation
    const query = 'query' in route ? route.query : 'query' in route.options ? route.options.query : undefined
    const texts = [...(query ? invalidQueries(Object.keys(query.properties)) : [])]
    const errors = [
      ...(route.type === 'write' && route.options.body ? findBodyErrors(route.options.body) : []),
      ...(query ? texts.flatMap(text => parseQuery(query, text, 'UTC').errors) : []),
    ]
    return errors.map(({ detail }) => [operationId, detail] as const)
  })
  assert.ok(new Set(messages.map(([, message]) => message)).size > 1_000)
  assert.deepEqual(findRulesStatedAsFacts(messages), [])
})

test('no sentence in the sources states a rule as a fact', () => {
  const messages = globSync('{src,console,client/src}/**/*.{ts,js}', { cwd: fileURLToPath(root) }).flatMap(path =>
    extractPassages(path, readFileSync(new URL(path, root), 'utf8'))
      .filter(({ kind }) => kind === 'string')
      .map(({ text }) => [path, text] as const),
  )
  assert.ok(messages.length > 3_000)
  assert.deepEqual(findRulesStatedAsFacts(messages), [])
})

test('a message that states a rule as a fact is found', () => {
  assert.deepEqual(findRulesStatedAsFacts([['SECRET_KEY', 'SECRET_KEY has at least 32 characters.']]), [
    'SECRET_KEY: SECRET_KEY has at least 32 characters.',
  ])
})
