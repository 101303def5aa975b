import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { statesRule } from '../../scripts/prose/plain-english.ts'
import { buildProgram } from '../../src/commands/program.ts'
import { ConfigError, readConfig, settings } from '../../src/config/config.ts'
import { errorCodes } from '../../src/errors/api-error.ts'

const root = new URL('../../', import.meta.url)

/** Returns the messages that state a rule as a fact, each with its origin. */
const stating = (messages: Iterable<readonly [origin: string, message: string]>) =>
  [...messages].filter(([, message]) => statesRule(message)).map(([origin, message]) => `${origin}: ${message}`)

/** Returns the text of a string or template literal. A hole becomes `X`. */
const literalText = (literal: string) => literal.slice(1, -1).replace(/\$\{[^{}]*(\{[^{}]*\}[^{}]*)*\}/g, 'X')

/** Yields the messages of `throw new …Error('…')` and of error callbacks in the source files of a folder. */
function* thrownMessages(folder: string) {
  const literal = '(\'(?:[^\'\\\\\\n]|\\\\.)*\'|"(?:[^"\\\\\\n]|\\\\.)*"|`(?:[^`\\\\]|\\\\.)*`)'
  const thrown = new RegExp(
    `(?:new \\w*(?:Error|InvalidSetting)|addError\\([^\`'"]*'\\w+', \\w+,)\\(?\\s*${literal}`,
    'g',
  )
  for (const path of globSync(`${folder}/**/*.ts`, { cwd: fileURLToPath(root) }))
    for (const [, message = ''] of readFileSync(new URL(path, root), 'utf8').matchAll(thrown))
      yield [path, literalText(message)] as const
}

test('titles and remedies of the error catalogue state no rule as a fact', () => {
  const messages = Object.entries(errorCodes).flatMap(([code, { title, remedy }]) => [
    [code, title] as const,
    [code, remedy] as const,
  ])
  assert.ok(messages.length > 100)
  assert.deepEqual(stating(messages), [])
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
  assert.deepEqual(stating(messages), [])
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
  assert.deepEqual(stating(messages), [])
})

for (const folder of [
  'src/commands',
  'src/config',
  'src/tls',
  'src/postgres',
  'src/mail',
  'src/schemas',
  'src/http/body',
])
  test(`errors thrown in ${folder} state no rule as a fact`, () => {
    assert.deepEqual(stating(thrownMessages(folder)), [])
  })

test('a message that states a rule as a fact is found', () => {
  assert.deepEqual(stating([['SECRET_KEY', 'SECRET_KEY has at least 32 characters.']]), [
    'SECRET_KEY: SECRET_KEY has at least 32 characters.',
  ])
})
