import { accounts } from './api/accounts.ts'
import { audit } from './api/audit.ts'
import { changes } from './api/changes.ts'
import { customers } from './api/customers.ts'
import { inventory } from './api/inventory.ts'
import { mappings } from './api/mappings.ts'
import { orders } from './api/orders.ts'
import { paymentGateways } from './api/paymentGateways.ts'
import { privacy } from './api/privacy.ts'
import { products } from './api/products.ts'
import { reservations } from './api/reservations.ts'
import { returns } from './api/returns.ts'
import { rewards } from './api/rewards.ts'
import { service } from './api/service.ts'
import { shipments } from './api/shipments.ts'
import { staff } from './api/staff.ts'
import { stores } from './api/stores.ts'
import { transactions } from './api/transactions.ts'
import { vouchers } from './api/vouchers.ts'
import { webhooks } from './api/webhooks.ts'
import { createCalls } from './calls/calls.ts'
import { type Connection, createTransport } from './calls/transport.ts'
import { type FollowOptions, follow } from './follow.ts'

export type Tillbridge = ReturnType<typeof tillbridge>

/** Creates a client of one service. It keeps nothing open, so there is nothing to close. */
export function tillbridge(connection: Connection) {
  const call = createCalls(createTransport(connection))
  return {
    stores: stores(call),
    staff: staff(call),
    inventory: inventory(call),
    reservations: reservations(call),
    products: products(call),
    customers: customers(call),
    privacy: privacy(call),
    transactions: transactions(call),
    orders: orders(call),
    shipments: shipments(call),
    returns: returns(call),
    rewards: rewards(call),
    vouchers: vouchers(call),
    paymentGateways: paymentGateways(call),
    service: service(call),
    accounts: accounts(call),
    mappings: mappings(call),
    webhooks: webhooks(call),
    audit: audit(call),
    changes: changes(call),
    follow: (options?: FollowOptions) => follow(call, options),
  }
}
