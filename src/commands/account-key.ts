import { requireLocalAccount } from '../auth/require-local-account.ts'
import { buildApiKeySchemas, maxApiKeys } from '../domain/api-keys.ts'
import { loadAssignments, lockAccount, toApiKey } from '../store/accounts/accounts.ts'
import { countApiKeys, createApiKey, listApiKeys, revokeApiKey } from '../store/accounts/api-keys.ts'
import { recordCommand } from './terminal/audit.ts'
import { type Command, serviceOption } from './terminal/command.ts'
import { withDatabase } from './terminal/session.ts'
import { printSecret } from './terminal/standard-output.ts'
import { formatTable, toMinute } from './terminal/table.ts'
import { validateInput } from './terminal/validate-input.ts'

interface AddOptions {
  service?: string
  scopes?: string
  stores?: string
  expiresInDays?: string
}

const splitList = (list: string | undefined) => list?.split(',').map(text => text.trim())

const toKeyPath = (username: string, name: string) => `/accounts/${encodeURIComponent(username)}/keys/${name}`

export function buildAccountKeyCommand(account: Command) {
  const key = account
    .command('key')
    .description("Manage an account's API keys")
    .examples(
      ['account key add webshop web-1 --scopes orders:read,orders:write', 'creates a key'],
      ['account key list webshop', 'lists its keys'],
      ['account key revoke webshop web-1', 'revokes the key'],
    )

  key
    .command('add')
    .argument('<username>')
    .argument('<name>')
    .description('Create an API key for an account')
    .option(...serviceOption)
    .option('--scopes <scopes>', 'groups of operations, separated by commas (default: all)')
    .option('--stores <numbers>', 'numbers of the stores, separated by commas (default: all)')
    .option('--expires-in-days <days>', 'days until it expires (default: never)')
    .examples(
      ['account key add webshop web-1 --scopes products:read,inventory:read', 'for reading products and stock'],
      ['account key add till pos-101 --stores 101 --scopes stores:read,inventory:read', 'for one store'],
      ['account key add erp nightly --service luma --expires-in-days 90', "with the account's role, for 90 days"],
    )
    .action(
      (
        username: string,
        name: string,
        { service: serviceName, scopes: list, stores, expiresInDays: days }: AddOptions,
      ) =>
        withDatabase(async ({ control, keys, services }) => {
          const { scopes } = await import('../resources/resources.ts')
          const input = validateInput(buildApiKeySchemas(scopes).ApiKeyInput, {
            name,
            scopes: splitList(list),
            stores: splitList(stores),
            expiresInDays: days === undefined ? undefined : Number(days),
          })
          const { service } = await services.find(serviceName)
          const secret = await control.transaction(async tx => {
            await lockAccount(tx, username)
            if (!(await loadAssignments(tx, username)).has(service.name))
              throw new Error(`Account ${username} has no role in ${service.name}. Run "tillbridge account list".`)
            await requireLocalAccount(tx, username)
            if ((await countApiKeys(tx, service, username)) >= maxApiKeys)
              throw new Error(`An account can have at most ${maxApiKeys} keys in a service. Revoke one first.`)
            const created = await createApiKey(tx, keys, service, { ...input, username })
            if (created === undefined)
              throw new Error(`Account ${username} has a key ${name}. Choose another name, or revoke it first.`)
            await recordCommand(tx, service, { operation: 'account key add', subject: toKeyPath(username, name) })
            return created
          })
          await printSecret(
            `Key: ${secret}\nAPI key: ${toApiKey(username, secret)}\nSave them now. They won't be shown again.`,
            'secret',
            `To revoke it: tillbridge account key revoke ${username} ${name} --service ${service.name}`,
          )
        }),
    )

  key
    .command('list')
    .argument('[username]')
    .description('List API keys with scopes, expiry and last use')
    .examples(['account key list', 'lists all keys'], ['account key list webshop', 'lists those of one account'])
    .action((username: string | undefined) =>
      withDatabase(async ({ control }) => {
        const rows = (await listApiKeys(control, username)).map(row => [
          row.username,
          row.service,
          row.name,
          row.scopes?.join(', ') ?? 'all',
          row.stores?.join(', ') ?? 'all',
          row.created.toISOString().slice(0, 10),
          row.expires ? toMinute(row.expires) : 'never',
          row.used ? toMinute(row.used) : 'never',
        ])
        console.log(
          formatTable(
            ['account', 'service', 'key', 'scopes', 'stores', 'created', 'expires (UTC)', 'last used (UTC)'],
            rows,
          ),
        )
      }),
    )

  key
    .command('revoke')
    .argument('<username>')
    .argument('<name>')
    .description('Revoke an API key')
    .option(...serviceOption)
    .examples(['account key revoke webshop web-1', 'every process rejects it within 5 seconds'])
    .action((username: string, name: string, { service: serviceName }: { service?: string }) =>
      withDatabase(async ({ control, services }) => {
        const { service } = await services.find(serviceName)
        await control.transaction(async tx => {
          if (!(await revokeApiKey(tx, service, username, name)))
            throw new Error(`Key ${name} of ${username} not found. Run "tillbridge account key list ${username}".`)
          await recordCommand(tx, service, { operation: 'account key revoke', subject: toKeyPath(username, name) })
        })
        console.log(`Key ${name} of ${username} revoked.`)
      }),
    )
}
