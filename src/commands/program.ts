import { CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { Command, formatExamples } from './terminal/command.ts'
import { watchStandardOutput } from './terminal/standard-output.ts'

/** The commands by help group. A command's module is loaded only when it is needed: loading all of them takes longer than most commands. */
const groups = {
  'Server:': {
    start: async () => (await import('./start.ts')).buildStartCommand,
    worker: async () => (await import('./worker.ts')).buildWorkerCommand,
    migrate: async () => (await import('./migrate.ts')).buildMigrateCommand,
    doctor: async () => (await import('./doctor/doctor.ts')).buildDoctorCommand,
  },
  'Setup:': {
    service: async () => (await import('./service.ts')).buildServiceCommand,
    account: async () => (await import('./account.ts')).buildAccountCommand,
    'back-office': async () => (await import('./back-office/back-office.ts')).buildBackOfficeCommand,
    ecommerce: async () => (await import('./ecommerce/ecommerce.ts')).buildEcommerceCommand,
    shard: async () => (await import('./shard.ts')).buildShardCommand,
  },
  'Data:': {
    import: async () => (await import('./import.ts')).buildImportCommand,
    export: async () => (await import('./export.ts')).buildExportCommand,
    sync: async () => (await import('./sync.ts')).buildSyncCommand,
    mapping: async () => (await import('./mappings/mapping.ts')).buildMappingCommand,
  },
  'Shop:': {
    order: async () => (await import('./order.ts')).buildOrderCommand,
    customer: async () => (await import('./customer.ts')).buildCustomerCommand,
    voucher: async () => (await import('./voucher.ts')).buildVoucherCommand,
  },
  'Integrations:': {
    webhook: async () => (await import('./webhook.ts')).buildWebhookCommand,
    listen: async () => (await import('./listen.ts')).buildListenCommand,
    mcp: async () => (await import('./mcp.ts')).buildMcpCommand,
  },
  'Messages:': {
    mail: async () => (await import('./mail.ts')).buildMailCommand,
    alert: async () => (await import('./alert.ts')).buildAlertCommand,
  },
  'Maintenance:': {
    backup: async () => (await import('./backups/backup.ts')).buildBackupCommand,
    restore: async () => (await import('./backups/restore.ts')).buildRestoreCommand,
    secret: async () => (await import('./secret.ts')).buildSecretCommand,
  },
  'Other:': {
    console: async () => (await import('./console.ts')).buildConsoleCommand,
    demo: async () => (await import('./demo.ts')).buildDemoCommand,
  },
} satisfies Record<string, Record<string, () => Promise<(program: Command) => unknown>>>

const aliases: Readonly<Record<string, string>> = { user: 'account' }

const versionFlags: readonly string[] = ['-V', '--version']

/** Builds the command line with the named command only, without one for the version, or with all commands if the name is unknown. */
export async function buildProgram(name?: string): Promise<Command> {
  const program = new Command('tillbridge')
    .description('Run and manage Tillbridge')
    .version(manifest.version, versionFlags.join(', '), 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText(
      'after',
      `${formatExamples(
        ['start', 'starts the server, with a demo shop on the first start'],
        ['service add luma currency=AUD', 'creates a service'],
        ['account add webshop --service luma', 'creates an account for it'],
      )}\nExit codes: 0 success, 1 failure, 2 some lines or records were rejected, 130 Ctrl-C, 143 SIGTERM.\n`,
    )
    .showHelpAfterError('Run with --help for usage.')
    .exitOverride()
  const commandName = aliases[name ?? ''] ?? name
  const isKnown =
    commandName !== undefined &&
    (versionFlags.includes(commandName) || Object.values(groups).some(commands => Object.hasOwn(commands, commandName)))
  for (const [heading, commands] of Object.entries(groups))
    for (const [command, load] of Object.entries(commands))
      if (!isKnown || command === commandName) (await load())(program.commandsGroup(heading))
  return program
}

/** Runs the command in the process's arguments. */
export async function run() {
  watchStandardOutput()
  const program = await buildProgram(process.argv[2])
  try {
    await program.parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode ??= error.exitCode
    else {
      console.error(error instanceof Error ? `tillbridge: ${formatError(error)}` : error)
      process.exitCode ??= 1
    }
  }
}

/** Returns the message of an error. EPIPE, for example in the middle of a backup, gets a readable one. */
const formatError = ({ message, code }: NodeJS.ErrnoException) =>
  code === 'EPIPE' ? 'Standard output was closed by the reading program.' : message
