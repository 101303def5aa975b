import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Command, CommanderError } from 'commander'
import { buildProgram } from '../../src/commands/program.ts'
import { type AlertName, alertKinds, getRemedy } from '../../src/domain/alerts.ts'
import { errorCodes } from '../../src/errors/api-error.ts'
import { checkout } from '../support/processes.ts'

/** Makes a command and its subcommands do nothing, and throw instead of printing. */
function silence(command: Command) {
  command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  command.commands.forEach(silence)
  // `backup` has subcommands and an argument.
  if (!command.commands.length || command.registeredArguments.length) command.action(() => {})
}

/** Returns the innermost command that words name. */
function findCommand(program: Command, words: readonly string[]): Command {
  const [name = '', ...laterWords] = words
  const command = program.commands.find(candidate => candidate.name() === name || candidate.aliases().includes(name))
  return command ? findCommand(command, laterWords) : program
}

/**
 * Returns the error of a command line. Returns undefined if the command, its options and its arguments exist. An incomplete
 * command line can omit all arguments, but not only the last ones.
 */
async function findError(args: string[], isComplete: boolean): Promise<string | undefined> {
  const program = await buildProgram(args[0])
  silence(program)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // The files that the documents name don't exist here.
    if (!(error instanceof CommanderError)) return /not found\.$/.test(String(error)) ? undefined : String(error)
    const partial = ['commander.missingMandatoryOptionValue', 'commander.help']
    if (!findCommand(program, args).args.length) partial.push('commander.missingArgument')
    if (error.exitCode && (isComplete || !partial.includes(error.code))) return error.message
  }
}

/** Splits a command line into words, as a shell does. Stops at a comment, a pipe or a redirection. */
function splitCommand(line: string) {
  const [command = ''] = line
    .replace(/'[^']*'|"[^"]*"/g, text => text.replaceAll(/[#|>;&]/g, '_'))
    .split(/\s(?=[#|>;&])/)
  return (command.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? []).map(word => word.replaceAll(/['"]/g, ''))
}

/** Commands of other programs with the name of the service or the container. */
const otherPrograms =
  /kubectl .*create |exec tillbridge \/|helm |systemctl |journalctl |--entrypoint |mkdir |sh -c |"\$@"/

/** Returns the `tillbridge` command lines of a text: complete ones in shell blocks, and complete or incomplete ones in backticks. */
function listCommands(text: string) {
  const blocks = [...text.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].map(([, , block = '']) => block)
  const lines = blocks.flatMap(block => block.replaceAll(/\\\n\s*/g, '').split('\n'))
  const inline = [...text.replaceAll(/^( *)```.*?^\1```/gms, '').matchAll(/`(tillbridge [^`]+)`/g)]
  return [
    ...lines.map(line => ({ line: line.trim(), isComplete: true })),
    ...inline.map(([, line = '']) => ({ line, isComplete: false })),
  ].flatMap(({ line, isComplete }) => {
    const words = splitCommand(line)
    const at = words.findLastIndex(word => /^(.*\/bin\/)?tillbridge$/.test(word))
    return at < 0 || otherPrograms.test(line) ? [] : [{ line, isComplete, args: words.slice(at + 1) }]
  })
}

test('each command in the documents exists with its options and arguments', async () => {
  const files = globSync(['docs/**/*.md', 'README.md', 'client/README.md', 'clients/*/README.md'], { cwd: checkout })
  const wrong: string[] = []
  let count = 0
  for (const file of files.filter(path => !path.endsWith('reference/cli.md')))
    for (const { line, args, isComplete } of listCommands(readFileSync(join(checkout, file), 'utf8'))) {
      count++
      const error = await findError(args, isComplete)
      if (error) wrong.push(`${file}: ${line}: ${error}`)
    }
  assert.ok(count > 150, `${count} commands`)
  assert.deepEqual(wrong, [])
})

/** Operations that other systems and browsers call, so the OpenAPI document doesn't list them. */
const undocumented = /^(GET \/(console|errors|mcp)\b|POST \/(console|ecommerce\/events)\b)/

test('each operation in the guides is in the OpenAPI document', () => {
  const { paths } = JSON.parse(readFileSync(join(checkout, 'openapi.json'), 'utf8')) as {
    paths: Record<string, object>
  }
  const templates = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      method => new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`),
    ),
  )
  const files = globSync(['docs/*.md', 'docs/{start,shop,connect,operate}/*.md', 'README.md'], { cwd: checkout })
  const operations = files.flatMap(file =>
    [...readFileSync(join(checkout, file), 'utf8').matchAll(/\b(?:GET|POST|PUT|DELETE) \/[\w{}:./-]*\w\}?/g)].map(
      ([operation]) => ({ file, operation: operation.replace(/:\w+/g, '{}') }),
    ),
  )
  assert.ok(operations.length > 70, String(operations.length))
  assert.deepEqual(
    operations.filter(
      ({ operation }) => !undocumented.test(operation) && !templates.some(template => template.test(operation)),
    ),
    [],
  )
})

test('each command in a remedy exists', async () => {
  const remedies = [
    ...Object.keys(alertKinds).map(kind => getRemedy({ kind: kind as AlertName, subject: 'x', service: 'luma' })),
    ...Object.values(errorCodes).map(({ remedy }) => remedy),
  ]
  const wrong: string[] = []
  for (const { line, args } of remedies.flatMap(listCommands)) {
    const error = await findError(args, false)
    if (error) wrong.push(`${line}: ${error}`)
  }
  assert.deepEqual(wrong, [])
})
