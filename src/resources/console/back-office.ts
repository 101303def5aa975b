import { drivers } from '../../backoffice/drivers.ts'
import { listSyncs, noLog } from '../../backoffice/list-syncs.ts'
import {
  type BackOfficeSettings,
  embeddedName,
  findContradictions,
  findProblem,
} from '../../domain/tenancy/back-office-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { Nullable, Text } from '../../domain/values/fields.ts'
import { ApiError, type FieldError } from '../../errors/api-error.ts'
import { throwIfAny } from '../../errors/throw-if-any.ts'
import { calculation, get, post, put } from '../../http/routing/route-definitions.ts'
import { type Static, Type } from '../../schemas/schemas.ts'
import {
  findStoredBackOffice,
  lockStoredBackOffice,
  rescheduleSyncs,
  type StoredBackOffice,
  setBackOffice,
} from '../../store/backoffice/connections.ts'
import { consoleRoute } from './console-data.ts'

const [tag, role] = ['Syncs', 'admin'] as const
const path = '/console/back-office'

const credentials = {
  user: Type.Optional(Text('The user to sign in as.', 'retail')),
  password: Type.Optional(Text('The password of the user.', 'Sommer-2027')),
}
const Credentials = Type.Object(credentials, { $id: 'BackOfficeCredentials' })

const Change = Type.Object(
  {
    ...credentials,
    schedules: Type.Optional(
      Type.Array(
        Type.Object({
          sync: Text('The name of the sync.', 'stock'),
          intervalSeconds: Nullable(
            Type.Integer({
              description: 'The interval. Null: the default.',
              minimum: 60,
              maximum: 604_800,
              examples: [300],
            }),
          ),
        }),
        { maxItems: 50 },
      ),
    ),
  },
  { $id: 'BackOfficeChange' },
)

/**
 * The connection to the back office. The address can't be changed here: Tillbridge can reach systems that an admin of one service must not
 * reach, and the stored password would be sent to the new address.
 */
export const consoleBackOffice = [
  get(
    path,
    { ...consoleRoute, operationId: 'readBackOffice', tag, role, summary: 'Read the back-office connection' },
    async ({ db, keys, service, driver }) => {
      const stored = await findStoredBackOffice(db, keys, service)
      return {
        data: stored ? describe(stored, service) : { driver: driver.isEmbedded ? embeddedName : null, isOwn: false },
      }
    },
  ),

  put(
    path,
    {
      ...consoleRoute,
      operationId: 'updateBackOffice',
      tag,
      role,
      summary: 'Change the back-office connection',
      body: Change,
    },
    ({ keys, service, body }) =>
      async tx => {
        const stored = requireOwn(await lockStoredBackOffice(tx, keys, service))
        throwIfAny(findErrors(stored.settings, body, service))
        await setBackOffice(tx, keys, service, apply(stored.settings, body))
        await rescheduleSyncs(tx)
        const changed = requireOwn(await findStoredBackOffice(tx, keys, service))
        return { data: describe(changed, service), subject: '/back-office' }
      },
  ),

  post(
    `${path}/test`,
    {
      ...consoleRoute,
      ...calculation,
      role,
      operationId: 'testBackOffice',
      tag,
      summary: 'Test the back-office connection',
      body: Credentials,
    },
    async ({ keys, service, body, read }) => {
      const { settings } = requireOwn(await read(db => findStoredBackOffice(db, keys, service)))
      throwIfAny(findErrors(settings, body, service))
      const data = await probe(apply(settings, body), service)
      return async () => ({ data, subject: '/back-office' })
    },
  ),
]

/** Throws unless the service has its own connection to another system, with a password that can be decrypted. */
function requireOwn(stored: StoredBackOffice | undefined): StoredBackOffice {
  if (!stored || stored.settings.driver === embeddedName)
    throw new ApiError('capability_unavailable', 'The service has no back-office connection of its own.')
  if (stored.isLocked)
    throw new ApiError(
      'capability_unavailable',
      'The stored password was encrypted with another SECRET_KEY. Set it with `tillbridge back-office set`.',
    )
  return stored
}

function apply(
  settings: BackOfficeSettings,
  { schedules = [], ...changed }: Static<typeof Change>,
): BackOfficeSettings {
  const names = schedules.map(({ sync }) => sync)
  const unchanged = Object.entries(settings.syncIntervals ?? {}).filter(([sync]) => !names.includes(sync))
  const newIntervals = schedules.flatMap(({ sync, intervalSeconds }) =>
    intervalSeconds === null ? [] : [[sync, intervalSeconds] as const],
  )
  return { ...settings, ...changed, syncIntervals: Object.fromEntries([...unchanged, ...newIntervals]) }
}

function findErrors(settings: BackOfficeSettings, change: Static<typeof Change>, service: Service): FieldError[] {
  const toError = (pointer: string) => (detail: string) => ({ pointer, code: 'invalid_field' as const, detail })
  const userProblem = change.user && findProblem('user', change.user)
  const syncs = listSyncs(settings, service).map(({ name }) => name)
  return [
    ...(userProblem ? [toError('/user')(`\`user\` ${userProblem}.`)] : []),
    ...findContradictions(apply(settings, change), name => `\`${name}\``).map(toError('/user')),
    ...(change.schedules ?? []).flatMap(({ sync }, i) =>
      syncs.includes(sync)
        ? []
        : [toError(`/schedules/${i}/sync`)(`Sync ${sync} not found. Syncs: ${syncs.join(', ')}.`)],
    ),
  ]
}

/** Describes a connection without secrets. The intervals are those after the change, which all processes use within 5 seconds. */
function describe({ settings, isLocked }: StoredBackOffice, service: Service) {
  const { driver, url = null, country = null, user = null, password, timeZone, exportFolder = null } = settings
  const { syncIntervals: intervals = {}, ...defaults } = settings
  return {
    driver,
    isOwn: true,
    isLocked,
    url,
    country,
    user,
    hasPassword: password !== undefined,
    timeZone: timeZone ?? service.settings.timeZone,
    exportFolder,
    schedules: listSyncs(defaults, service).map(({ name, intervalSeconds }) => ({
      sync: name,
      intervalSeconds: intervals[name] ?? null,
      defaultSeconds: intervalSeconds,
    })),
  }
}

/**
 * Tests a connection with a new driver, so that its circuit breaker and the alert about credentials don't count the test. Logs nothing: the
 * response has the result.
 */
async function probe(settings: BackOfficeSettings, service: Service) {
  const driver = drivers[settings.driver](settings, service, noLog)
  try {
    const { release = null, stores, currency = null } = await driver.probe()
    return { isConnected: true, release, stores, currency }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { isConnected: false, code: error.code, detail: error.message }
  } finally {
    driver.close()
  }
}
