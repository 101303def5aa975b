import type { WriteOperation, WriteRegistry } from '../../writes/registry.ts'
import type { AppContext } from '../app-context.ts'
import type { RouteDefinition } from './route-definitions.ts'
import { prepareWrite } from './writes.ts'

/** Builds the registry of write operations from the route definitions. Recovery resumes interrupted writes with it. */
export function createWriteRegistry(
  definitions: readonly RouteDefinition[],
  { keys, backOffice, driver, sender }: Pick<AppContext, 'keys' | 'backOffice' | 'driver' | 'sender'>,
): WriteRegistry {
  const registry = new Map<string, WriteOperation>()
  for (const route of definitions) {
    if (route.type !== 'write') continue
    const { writeOptions, handler } = route
    registry.set(writeOptions.operation, {
      isAudited: writeOptions.isAudited,
      resume: (service, { params, body, username, requestId, agent, apiKey }) =>
        prepareWrite(
          writeOptions,
          {
            service,
            keys,
            backOffice: backOffice(service),
            driver: driver(service),
            sender,
            params,
            body,
            username,
            requestId,
            origin: {
              address: '',
              ...(agent !== undefined && { agent }),
              ...(apiKey !== undefined && { apiKey }),
            },
            header: () => undefined,
            strict: false,
            requireMatch() {},
          },
          handler,
        ),
    })
  }
  return registry
}
