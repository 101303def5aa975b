import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory, done, run } from '../support/processes.ts'

const environment = { DATA_DIR: join(directory(), 'data') }

/** Every command, with its subcommands, as the help tells of them. */
async function everyCommand(path: string[] = []): Promise<{ path: string[]; help: string }[]> {
  const help = await done([...path, '--help'], environment)
  const listed = help.split(/^Commands:$/m)[1]?.split(/^\S/m)[0] ?? ''
  const names = [...listed.matchAll(/^ {2}([a-z-]+)(?= )/gm)]
    .map(([, name = '']) => name)
    .filter(name => name !== 'help')
  // One that there is not answers with the help of the whole, and that would never end.
  assert.ok(path.length < 3, path.join(' '))
  const below = []
  for (const name of names) below.push(...(await everyCommand([...path, name])))
  return [{ path, help }, ...below]
}

test('the help of every command and subcommand has examples, which name commands that there are', async () => {
  const all = await everyCommand()
  const names = all.map(({ path }) => path.join(' '))
  for (const name of [
    'start',
    'migrate',
    'service add',
    'service list',
    'service set',
    'user add',
    'user rotate',
    'user revoke',
    'user list',
    'import',
    'order ship',
    'voucher suspend',
    'mail retry',
    'alert settle',
    'worker',
    'demo',
    'doctor',
  ])
    assert.ok(names.includes(name), name)
  for (const { path, help } of all) {
    const examples = [...help.matchAll(/^ {2}\$ tillbridge (.*)$/gm)].map(([, example = '']) => example)
    assert.ok(examples.length > 0, `tillbridge ${path.join(' ')} --help has examples`)
    for (const example of examples) {
      assert.ok(
        names.some(name => name && example.startsWith(name)),
        example,
      )
    }
  }
  assert.ok(!fs.existsSync(environment.DATA_DIR))
})

for (const [args, fault] of [
  [['serve'], /error: unknown command 'serve'/],
  [['service', 'remove'], /error: unknown command 'remove'/],
  [['start', '--port', '1'], /error: unknown option '--port'/],
  [['user', 'add'], /error: missing required argument 'username'/],
  [['user', 'add', 'webshop', '--role', 'owner'], /Allowed choices are visitor, maintainer, admin/],
  [['service', 'set', 'luma'], /error: missing required argument/],
  [['demo', 'one', 'two'], /error: too many arguments/],
  [['import', 'shoes', 'shoes.csv'], /Allowed choices are/],
  [['service', 'add', 'two words'], /tillbridge: The name of a service has/],
  [['demo', 'a:b'], /tillbridge: The name of a service has/],
  [['user', 'add', 'a:b'], /tillbridge: A username has 1 to 100 characters/],
] as const)
  test(`\`tillbridge ${args.join(' ')}\` is a clear error`, async () => {
    const { code, out, err } = await run(args, environment)
    assert.notEqual(code, 0)
    assert.equal(out, '')
    assert.match(err, fault)
    assert.doesNotMatch(err, /\n {4}at /)
    assert.ok(!fs.existsSync(environment.DATA_DIR))
  })
