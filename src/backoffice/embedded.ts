import { type BackOffice, customersByChangeSince } from '../domain/backoffice.ts'
import { isAtLeast } from '../domain/release.ts'
import type { Service } from '../settings.ts'

/** The back office whose system of record are our own tables. It answers as the release that the service is set to. */
export const embedded = (service: Service): BackOffice => ({
  async capabilities() {
    const { release } = service.settings
    const byChange = isAtLeast(release, customersByChangeSince)
    return {
      driver: 'embedded',
      release,
      capabilities: [
        { name: 'stores', available: true },
        { name: 'staff', available: true },
        { name: 'inventory', available: true },
        { name: 'products', available: true },
        { name: 'customers', available: true },
        {
          name: 'customersUpdatedAfter',
          available: byChange,
          ...(byChange
            ? {}
            : {
                reason: `GET /customers?updated_after= needs release ${customersByChangeSince} or later; this one is ${release}.`,
              }),
        },
        { name: 'transactions', available: true },
        { name: 'rewards', available: true },
        { name: 'paymentGateways', available: true },
      ],
    }
  },
})
