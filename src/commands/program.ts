import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { examples } from './terminal/examples.ts'
import { watchStandardOutput } from './terminal/standard-output.ts'

/** The command line's table of contents. The file of a command is loaded when it is asked for: to load all of them takes longer than most of what they do. */
const commands = {
  start: async () => (await import('./start.ts')).startCommand,
  worker: async () => (await import('./worker.ts')).workerCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  database: async () => (await import('./shard.ts')).databaseCommand,
  service: async () => (await import('./service.ts')).serviceCommand,
  user: async () => (await import('./account.ts')).userCommand,
  import: async () => (await import('./import.ts')).importCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  'back-office': async () => (await import('./back-office/back-office.ts')).backOfficeCommand,
  sync: async () => (await import('./sync.ts')).syncCommand,
  order: async () => (await import('./order.ts')).orderCommand,
  customer: async () => (await import('./customer.ts')).customerCommand,
  voucher: async () => (await import('./voucher.ts')).voucherCommand,
  mapping: async () => (await import('./mappings/mapping.ts')).mappingCommand,
  webhook: async () => (await import('./webhook.ts')).webhookCommand,
  listen: async () => (await import('./listen.ts')).listenCommand,
  mail: async () => (await import('./mail.ts')).mailCommand,
  console: async () => (await import('./console.ts')).consoleCommand,
  alert: async () => (await import('./alert.ts')).alertCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
  backup: async () => (await import('./backups/backup.ts')).backupCommand,
  restore: async () => (await import('./backups/restore.ts')).restoreCommand,
  secret: async () => (await import('./secret.ts')).secretCommand,
  restored: async () => (await import('./backups/restore-acknowledge.ts')).restoredCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
} satisfies Record<string, () => Promise<(program: Command) => unknown>>

/** The command line with the command of this name alone; with all of them where there is none of this name. */
export async function programWith(name?: string): Promise<Command> {
  const program = new Command('tillbridge')
    .description('The retail integration API: an HTTPS JSON service in front of a retail back office.')
    .version(manifest.version, '-V, --version', 'the release')
    .addHelpText(
      'after',
      examples(
        ['start', 'serve, with a demo shop on the first start'],
        ['service add luma currency=AUD', 'make a service; then an account for it:'],
        ['user add webshop --service luma', 'and then see: tillbridge import --help'],
      ),
    )
    .showHelpAfterError('(add --help for what there is)')
    .exitOverride()
  const asked = Object.entries(commands).filter(([each]) => each === name)
  for (const [, load] of asked.length ? asked : Object.entries(commands)) (await load())(program)
  return program
}

/** Does what the arguments of the process ask for. */
export async function run() {
  watchStandardOutput()
  const program = await programWith(process.argv[2])
  try {
    await program.parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode ??= error.exitCode
    else {
      console.error(error instanceof Error ? `tillbridge: ${messageOf(error)}` : error)
      process.exitCode ??= 1
    }
  }
}

/** What is said of an error. Whoever stops reading half of a backup is told so in words. */
const messageOf = ({ message, code }: NodeJS.ErrnoException) =>
  code === 'EPIPE' ? 'Whoever read standard output has gone.' : message
