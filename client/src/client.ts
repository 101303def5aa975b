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
import { returns } from './api/returns.ts'
import { rewards } from './api/rewards.ts'
import { service } from './api/service.ts'
import { staff } from './api/staff.ts'
import { stores } from './api/stores.ts'
import { transactions } from './api/transactions.ts'
import { vouchers } from './api/vouchers.ts'
import { webhooks } from './api/webhooks.ts'
import { callsOf } from './calls/calls.ts'
import { type Connection, transportOf } from './calls/transport.ts'
import { type Following, follow } from './follow.ts'

export type Tillbridge = ReturnType<typeof tillbridge>

/** A client of one service. It holds nothing open, so nothing has to be closed. */
export function tillbridge(connection: Connection) {
  const call = callsOf(transportOf(connection))
  return {
    stores: stores(call),
    staff: staff(call),
    inventory: inventory(call),
    products: products(call),
    customers: customers(call),
    privacy: privacy(call),
    transactions: transactions(call),
    orders: orders(call),
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
    follow: (following?: Following) => follow(call, following),
  }
}
