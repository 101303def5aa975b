import { createSender } from '../../webhooks/sender.ts'
import type { WriteOperation, WriteRegistry } from '../../writes/registry.ts'
import type { Gate } from '../admission/admit.ts'
import type { RouteDefinition } from './route-definitions.ts'
import { beginOf } from './writes.ts'

/** Builds the registry of write operations from the route definitions. */
export function createWriteRegistry(
  definitions: readonly RouteDefinition[],
  { keys, backOffice, driver }: Pick<Gate, 'keys' | 'backOffice' | 'driver'>,
): WriteRegistry {
  const registry = new Map<string, WriteOperation>()
  for (const route of definitions) {
    if (route.type !== 'write') continue
    const { how, handler } = route
    registry.set(how.operation, {
      isAudited: how.audited,
      resume: (service, { params, body, username, requestId }) =>
        beginOf(
          how,
          {
            service,
            keys,
            backOffice: backOffice(service),
            driver: driver(service),
            sender: createSender([]),
            params,
            body,
            username,
            requestId,
            origin: { address: '' },
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
