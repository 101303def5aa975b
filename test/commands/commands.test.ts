import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { buildProgram } from '../../src/commands/program.ts'
import { createDirectory, runCommand, runSuccessfully } from '../support/processes.ts'

const environment = { DATA_DIR: join(createDirectory(), 'data') }

/** Returns a command's help. */
function getHelp(command: Command) {
  const parts: string[] = []
  command.configureOutput({ writeOut: text => void parts.push(text) }).outputHelp()
  return parts.join('')
}

/** Returns all commands and subcommands with their help. */
const listCommands = (command: Command, path: string[] = []): { path: string[]; help: string }[] => [
  { path, help: getHelp(command) },
  ...command.commands.flatMap(subcommand => listCommands(subcommand, [...path, subcommand.name()])),
]

test('the help of every command has examples of existing commands', async () => {
  const commands = listCommands(await buildProgram())
  const names = commands.map(({ path }) => path.join(' '))
  for (const name of [
    'start',
    'migrate',
    'service add',
    'service list',
    'service set',
    'account add',
    'account rotate',
    'account revoke',
    'account list',
    'import',
    'order ship',
    'voucher suspend',
    'webhook add',
    'listen',
    'mail retry',
    'alert resolve',
    'worker',
    'demo',
    'doctor',
  ])
    assert.ok(names.includes(name), name)
  for (const { path, help } of commands) {
    const examples = [...help.matchAll(/^ {2}\$ tillbridge (.*)$/gm)].map(([, example = '']) => example)
    assert.ok(examples.length > 0, `tillbridge ${path.join(' ')} --help must have examples`)
    for (const example of examples) {
      assert.ok(
        names.some(name => name && example.startsWith(name)),
        example,
      )
    }
  }
  for (const path of [[], ['voucher'], ['account', 'add']]) {
    const help = commands.find(command => command.path.join(' ') === path.join(' '))?.help
    assert.equal(await runSuccessfully([...path, '--help'], environment), help)
  }
  assert.ok(!fs.existsSync(environment.DATA_DIR))
})

for (const [args, expectedError] of [
  [['serve'], /error: unknown command 'serve'/],
  [['service', 'drop'], /error: unknown command 'drop'/],
  [['service', 'remove'], /error: missing required argument 'name'/],
  [['start', '--port', '1'], /error: unknown option '--port'/],
  [['account', 'add'], /error: missing required argument 'username'/],
  [['account', 'add', 'webshop', '--role', 'owner'], /Allowed choices are visitor, maintainer, admin/],
  [['service', 'set', 'luma'], /error: missing required argument/],
  [['demo', 'one', 'two'], /error: too many arguments/],
  [['import', 'shoes', 'shoes.csv'], /Allowed choices are/],
  [['service', 'add', 'two words'], /tillbridge: The name of a service must have/],
  [['demo', 'a:b'], /tillbridge: The name of a service must have/],
  [['account', 'add', 'a:b'], /tillbridge: `username` must be a name of 1 to 100 characters/],
  [
    ['account', 'add', '\u202eabc'],
    /tillbridge: `username` can't contain the character U\+202E, which changes the direction of writing/,
  ],
] as const)
  test(`\`tillbridge ${args.join(' ')}\` is a clear error`, async () => {
    const { code, out, err } = await runCommand(args, environment)
    assert.notEqual(code, 0)
    assert.equal(out, '')
    assert.match(err, expectedError)
    assert.doesNotMatch(err, /\n {4}at /)
    assert.ok(!fs.existsSync(environment.DATA_DIR))
  })
