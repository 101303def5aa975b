import { Command, CommanderError } from 'commander'
import { alertCommand } from './alert.ts'
import { backOfficeCommand } from './back-office.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { mailCommand } from './mail.ts'
import { migrateCommand } from './migrate.ts'
import { orderCommand } from './order.ts'
import { serviceCommand } from './service.ts'
import { startCommand } from './start.ts'
import { syncCommand } from './sync.ts'
import { examples } from './terminal/examples.ts'
import { userCommand } from './user.ts'
import { voucherCommand } from './voucher.ts'
import { workerCommand } from './worker.ts'

/** The command line's table of contents. */
const commands = [
  startCommand,
  workerCommand,
  migrateCommand,
  serviceCommand,
  userCommand,
  importCommand,
  backOfficeCommand,
  syncCommand,
  orderCommand,
  voucherCommand,
  mailCommand,
  alertCommand,
  demoCommand,
  doctorCommand,
]

const program = new Command('tillbridge')
  .description('The retail integration API: an HTTPS JSON service in front of a retail back office.')
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
for (const command of commands) command(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else {
    console.error(error instanceof Error ? `tillbridge: ${error.message}` : error)
    process.exitCode = 1
  }
}
