import { Argument, Option } from 'commander'
import { requireLocalAccount } from '../auth/require-local-account.ts'
import type { Db } from '../database/db.ts'
import { AccountInput, type Role, roles } from '../domain/accounts.ts'
import { type AuditChange, listChanges } from '../domain/audit.ts'
import {
  accountExists,
  addAccount,
  addPassword,
  listAccounts,
  loadAssignments,
  lockRoles,
  revoke,
  setTrustsShopperIp,
} from '../store/accounts/accounts.ts'
import { deleteSecondFactor } from '../store/accounts/second-factors.ts'
import { buildAccountKeyCommand } from './account-key.ts'
import { recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { withDatabase } from './terminal/session.ts'
import { printCredentials } from './terminal/standard-output.ts'
import { formatTable, toMinute } from './terminal/table.ts'
import { validateInput } from './terminal/validate-input.ts'

export function buildAccountCommand(program: Command) {
  const account = program
    .command('account')
    .alias('user')
    .description('Manage accounts')
    .examples(
      ['account add webshop --service luma', 'creates an account'],
      ['account rotate webshop', 'issues a new password'],
      ['account revoke webshop', 'deletes the account'],
      ['account trust-shopper-ip webshop yes', 'trusts the shopper IP addresses it sends'],
      ['account key add webshop web-1 --scopes orders:read,products:read', 'creates an API key'],
      ['account list', 'lists all accounts'],
    )

  account
    .command('add')
    .argument('<username>')
    .description('Create an account, give it access to a service, or change its role')
    .option(...serviceOption)
    .addOption(
      new Option('--role <role>', 'its role in the service (default: its current role, or visitor)').choices(roles),
    )
    .option('--program', 'a new account is for a program, not for a person')
    .option('--trust-shopper-ip', 'trust the shopper IP address in its X-Shopper-IP header')
    .examples(
      ['account add webshop --service luma', 'with read access'],
      ['account add integration --service luma --role maintainer', 'with write access'],
      ['account add integration --service luma --role admin', 'changes its role'],
      ['account add webshop --service luma --program --trust-shopper-ip', 'for the backend of a web shop'],
    )
    .action(
      (
        username: string,
        { service: name, role: requestedRole, program: isProgram = false, trustShopperIp = false }: AddOptions,
      ) => {
        validateInput(AccountInput, { username, role: requestedRole ?? 'visitor' })
        return withDatabase(async ({ control, keys, services }) => {
          const { service } = await services.find(name)
          const { role, password } = await control.transaction(async tx => {
            await lockRoles(tx, service)
            const previousRole = (await loadAssignments(tx, username)).get(service.name)?.role
            const newRole = requestedRole ?? previousRole ?? 'visitor'
            await requireLocalAccount(tx, username)
            const newPassword = await addAccount(tx, keys, username, service, newRole, isProgram)
            if (trustShopperIp) await setTrustsShopperIp(tx, username, true)
            const changes = listChanges({ role: previousRole }, { role: newRole })
            await writeAuditEntries(tx, username, 'account add', { only: service.name, changes })
            return { role: newRole, password: newPassword }
          })
          console.log(`Account ${username} has the role ${role} in ${service.name}.`)
          if (password) await printCredentials(username, password)
        })
      },
    )

  account
    .command('rotate')
    .argument('<username>')
    .description('Issue a new password')
    .examples(
      ['account rotate webshop', 'issues a password; the previous one works until the next rotation'],
      ['account revoke webshop --previous-secret', 'then revokes the previous password'],
    )
    .action((username: string) =>
      withDatabase(async ({ control, keys }) => {
        const password = await control.transaction(async tx => {
          if (!(await accountExists(tx, username))) throw accountNotFound(username)
          await requireLocalAccount(tx, username)
          await writeAuditEntries(tx, username, 'account rotate')
          return addPassword(tx, keys, username)
        })
        await printCredentials(username, password)
        console.log(
          `The previous password still works. To revoke it: tillbridge account revoke ${username} --previous-secret`,
        )
      }),
    )

  account
    .command('revoke')
    .argument('<username>')
    .description('Delete an account')
    .option('--previous-secret', 'revoke only the passwords before the newest one')
    .examples(
      ['account revoke webshop', 'deletes it; every process rejects it within 5 seconds'],
      ['account revoke webshop --previous-secret', 'keeps only the newest password'],
    )
    .action((username: string, { previousSecret = false }: { previousSecret?: boolean }) =>
      withDatabase(async ({ control }) => {
        await control.transaction(async tx => {
          await writeAuditEntries(tx, username, 'account revoke')
          if (!(await revoke(tx, username, { all: !previousSecret }))) throw accountNotFound(username)
        })
        console.log(
          previousSecret
            ? `Previous passwords of ${username} revoked. Its newest password still works.`
            : `Account ${username} deleted.`,
        )
      }),
    )

  account
    .command('reset-second-factor')
    .argument('<username>')
    .description('Remove the second factor of an account')
    .examples(['account reset-second-factor anna', 'if anna has lost the app and the recovery codes'])
    .action((username: string) =>
      withDatabase(async ({ control }) => {
        await control.transaction(async tx => {
          if (!(await accountExists(tx, username))) throw accountNotFound(username)
          if (!(await deleteSecondFactor(tx, username))) throw new Error(`Account ${username} has no second factor.`)
          await writeAuditEntries(tx, username, 'account reset-second-factor')
        })
        console.log(`Second factor of ${username} removed. Its password opens the console again.`)
      }),
    )

  account
    .command('trust-shopper-ip')
    .argument('<username>')
    .addArgument(new Argument('<trusted>', 'yes or no').choices(['yes', 'no']))
    .description('Trust the shopper IP address an account sends')
    .examples(
      ['account trust-shopper-ip webshop yes', 'counts wrong PINs by the X-Shopper-IP header'],
      ['account trust-shopper-ip webshop no', "counts them by the account's own address"],
    )
    .action((username: string, value: 'yes' | 'no') =>
      withDatabase(async ({ control }) => {
        const trusted = value === 'yes'
        await control.transaction(async tx => {
          await writeAuditEntries(tx, username, 'account trust-shopper-ip')
          if (!(await setTrustsShopperIp(tx, username, trusted))) throw accountNotFound(username)
        })
        console.log(
          trusted
            ? `Tillbridge trusts the X-Shopper-IP header of ${username}.`
            : `Tillbridge ignores the X-Shopper-IP header of ${username}.`,
        )
      }),
    )

  buildAccountKeyCommand(account)

  account
    .command('list')
    .description('List accounts with services, roles and last use')
    .examples(['account list', 'lists all accounts'])
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
              used ? toMinute(used) : 'never',
            ]),
        )
        console.log(
          formatTable(['account', 'service', 'role', 'passwords', 'shopper IP', 'created', 'last used (UTC)'], rows),
        )
      }),
    )
}

const toAccountPath = (username: string) => `/accounts/${encodeURIComponent(username)}`

/**
 * Writes an audit entry for each service that the account can use, or only for `only`. The entries go to the control database. Entries of
 * services in other shards are forwarded from there.
 */
async function writeAuditEntries(
  tx: Db,
  username: string,
  operation: string,
  { only, changes }: { only?: string; changes?: readonly AuditChange[] } = {},
) {
  for (const { service } of (await loadAssignments(tx, username)).values())
    if (only === undefined || service.name === only)
      await recordCommand(tx, service, { operation, subject: toAccountPath(username), changes })
}

interface AddOptions {
  service?: string
  role?: Role
  program?: boolean
  trustShopperIp?: boolean
}

const accountNotFound = (username: string) => new Error(`Account ${username} not found. Run "tillbridge account list".`)
