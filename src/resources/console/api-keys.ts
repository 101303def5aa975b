import { get } from '../../http/routing/route-definitions.ts'
import { listApiKeysOfService } from '../../store/accounts/api-keys.ts'
import { consoleRoute } from './console-data.ts'

/** The API keys of all accounts. */
export const consoleApiKeys = [
  get(
    '/console/api-keys',
    {
      ...consoleRoute,
      operationId: 'listApiKeysOfService',
      tag: 'Accounts',
      role: 'admin',
      inControlDatabase: true,
      summary: 'List the API keys of the service',
    },
    async ({ db, service }) => ({ data: await listApiKeysOfService(db, service) }),
  ),
]
