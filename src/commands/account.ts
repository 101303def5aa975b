import { Argument, type Command, Option } from 'commander'
import type { Db } from '../database/db.ts'
import { AccountInput, type Role, roles } from '../domain/accounts.ts'
import {
  accountExists,
  addAccount,
  addPassword,
  assignmentsOf,
  holdRoles,
  listAccounts,
  nameShoppers,
  revoke,
} from '../store/accounts/accounts.ts'
import { leaveCommandLine } from './terminal/audit.ts'
import { printCredentials } from './terminal/credentials.ts'
import { examples } from './terminal/examples.ts'
import { serviceOption } from './terminal/service-option.ts'
import { withDatabase } from './terminal/session.ts'
import { table } from './terminal/table.ts'
import { judged } from './terminal/validate-input.ts'

export function userCommand(program: Command) {
  const user = program
    .command('user')
    .description('Accounts: who may use which service, and as what.')
    .addHelpText(
      'after',
      examples(
        ['user add webshop --service luma', 'make one'],
        ['user rotate webshop', 'a further password'],
        ['user revoke webshop', 'end one'],
        ['user names-shoppers webshop yes', 'trust it to tell the addresses of shoppers'],
        ['user list', 'see all'],
      ),
    )

  user
    .command('add')
    .argument('<username>')
    .description('Make an account for a service, or give one a further service or another role.')
    .option(...serviceOption)
    .addOption(
      new Option(
        '--role <role>',
        'what the account may do; without it what it may there already, visitor for a new one',
      ).choices(roles),
    )
    .option('--names-shoppers', 'trust it to tell the address of each shopper by X-Shopper-IP')
    .addHelpText(
      'after',
      examples(
        ['user add webshop --service luma', 'may read'],
        ['user add integration --service luma --role maintainer', 'may write too'],
        ['user add webshop --service luma --names-shoppers', 'the back end of a web shop'],
      ),
    )
    .action((username: string, { service: name, role: wanted, namesShoppers = false }: Adding) => {
      judged(AccountInput, { username, role: wanted ?? 'visitor' })
      return withDatabase(async ({ control, keys, services }) => {
        const { service } = await services.find(name)
        const { role, password } = await control.transaction(async tx => {
          await holdRoles(tx, service)
          const role = wanted ?? (await assignmentsOf(tx, username)).get(service.name)?.role ?? 'visitor'
          const password = await addAccount(tx, keys, username, service, role)
          if (namesShoppers) await nameShoppers(tx, username, true)
          await leaveLines(tx, username, 'user add', service.name)
          return { role, password }
        })
        console.log(`${username} is ${role} of ${service.name}.`)
        if (password) await printCredentials(username, password)
      })
    })

  user
    .command('rotate')
    .argument('<username>')
    .description(
      'Issue a further password. The one before stays alive until it is revoked, or until the next rotation.',
    )
    .addHelpText(
      'after',
      examples(
        ['user rotate webshop', 'then give the new password to the web shop, then:'],
        ['user revoke webshop --old', 'ends the old one'],
      ),
    )
    .action((username: string) =>
      withDatabase(async ({ control, keys }) => {
        const password = await control.transaction(async tx => {
          if (!(await accountExists(tx, username))) throw noAccount(username)
          await leaveLines(tx, username, 'user rotate')
          return addPassword(tx, keys, username)
        })
        await printCredentials(username, password)
        console.log(`The password before it is still alive; end it with: tillbridge user revoke ${username} --old`)
      }),
    )

  user
    .command('revoke')
    .argument('<username>')
    .description('End an account, in every process within 5 seconds.')
    .option('--old', 'end only the passwords before the newest one')
    .addHelpText(
      'after',
      examples(
        ['user revoke webshop', 'the account is gone'],
        ['user revoke webshop --old', 'only its newest password stays'],
      ),
    )
    .action((username: string, { old = false }: { old?: boolean }) =>
      withDatabase(async ({ control }) => {
        await control.transaction(async tx => {
          await leaveLines(tx, username, 'user revoke')
          if (!(await revoke(tx, username, { all: !old }))) throw noAccount(username)
        })
        console.log(old ? `Only the newest password of ${username} is alive.` : `${username} is revoked.`)
      }),
    )

  user
    .command('names-shoppers')
    .argument('<username>')
    .addArgument(new Argument('<trusted>', 'whether it is').choices(['yes', 'no']))
    .description(
      'Trust an account to tell the address of each shopper by X-Shopper-IP, by which wrong PINs are then counted.',
    )
    .addHelpText(
      'after',
      examples(
        ['user names-shoppers webshop yes', 'for the back end of a web shop'],
        ['user names-shoppers webshop no', 'it is counted by its own address again'],
      ),
    )
    .action((username: string, answer: 'yes' | 'no') =>
      withDatabase(async ({ control }) => {
        const trusted = answer === 'yes'
        await control.transaction(async tx => {
          await leaveLines(tx, username, 'user names-shoppers')
          if (!(await nameShoppers(tx, username, trusted))) throw noAccount(username)
        })
        console.log(
          trusted
            ? `${username} is trusted to name shoppers by X-Shopper-IP.`
            : `${username} is not trusted to name shoppers: X-Shopper-IP is ignored.`,
        )
      }),
    )

  user
    .command('list')
    .description(
      'The accounts with their services, roles, live passwords, whether they name shoppers, and when they were last used.',
    )
    .addHelpText('after', examples(['user list', 'all accounts']))
    .action(() =>
      withDatabase(async ({ control }) => {
        const rows = (await listAccounts(control)).flatMap(
          ({ username, services, passwords, trustsShopperIp, created }) =>
            (services.length ? services : [{ service: '-', role: '-', used: null }]).map(({ service, role, used }) => [
              username,
              service,
              role,
              String(passwords),
              trustsShopperIp ? 'yes' : 'no',
              created.toISOString().slice(0, 10),
              used ? minuteOf(used) : 'never',
            ]),
        )
        console.log(table(['user', 'service', 'role', 'passwords', 'names shoppers', 'since', 'last used (UTC)'], rows))
      }),
    )
}

/** A moment to the minute: `2026-11-22 14:05`. */
const minuteOf = (moment: string) => new Date(moment).toISOString().slice(0, 16).replace('T', ' ')

const pathOf = (username: string) => `/accounts/${encodeURIComponent(username)}`

/**
 * Leaves a line in the audit of each service that the account may use, or of this one alone. The services are those that the control
 * database has: where one is in a data database, its line goes there from here.
 */
async function leaveLines(tx: Db, username: string, operation: string, only?: string) {
  for (const { service } of (await assignmentsOf(tx, username)).values())
    if (only === undefined || service.name === only)
      await leaveCommandLine(tx, service, { operation, subject: pathOf(username) })
}

interface Adding {
  service?: string
  role?: Role
  namesShoppers?: boolean
}

const noAccount = (username: string) =>
  new Error(`There is no account ${username}; tillbridge user list shows those there are.`)
