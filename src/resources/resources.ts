import { listScopes } from '../http/admission/scopes.ts'
import type { RouteDefinition } from '../http/routing/route-definitions.ts'
import { accounts } from './accounts.ts'
import { alerts } from './alerts.ts'
import { buildApiKeyRoutes } from './api-keys.ts'
import { audit } from './audit.ts'
import { browse } from './browse.ts'
import { changeRoutes } from './changes/changes.ts'
import { consoleApiKeys } from './console/api-keys.ts'
import { consoleBackOffice } from './console/back-office.ts'
import { consoleImports } from './console/imports.ts'
import { consoleMappings } from './console/mappings.ts'
import { consoleOrders } from './console/orders.ts'
import { consoleRequests } from './console/requests.ts'
import { consoleSales } from './console/sales.ts'
import { consoleStores } from './console/stores.ts'
import { consoleSystem } from './console/system.ts'
import { consoleWebhooks } from './console/webhooks.ts'
import { coupons } from './coupons.ts'
import { customers } from './customers.ts'
import { ecommerce } from './ecommerce.ts'
import { paymentGateways } from './gateways.ts'
import { health } from './health.ts'
import { imports } from './imports.ts'
import { inventory } from './inventory.ts'
import { mappingCheck } from './mappings/mapping-check.ts'
import { mappings } from './mappings/mappings.ts'
import { me } from './me.ts'
import { orders } from './orders.ts'
import { privacy } from './privacy.ts'
import { products } from './products.ts'
import { requests } from './requests/requests.ts'
import { reservations } from './reservations.ts'
import { returns } from './returns.ts'
import { rewards } from './rewards.ts'
import { search } from './search.ts'
import { serviceRoutes } from './service.ts'
import { shipments } from './shipments.ts'
import { staff } from './staff.ts'
import { stats } from './stats.ts'
import { stores } from './stores.ts'
import { syncs } from './syncs.ts'
import { transactions } from './transactions.ts'
import { voucherLedgers } from './vouchers/ledger.ts'
import { vouchers } from './vouchers/vouchers.ts'
import { webhooks } from './webhooks/webhooks.ts'

/** All routes except the routes of API keys, whose schemas list the scopes. */
const routesWithoutKeys: readonly RouteDefinition[] = [
  ...stores,
  ...staff,
  ...inventory,
  ...reservations,
  ...products,
  ...customers,
  ...privacy,
  ...transactions,
  ...orders,
  ...coupons,
  ...returns,
  ...shipments,
  ...rewards,
  ...vouchers,
  ...voucherLedgers,
  ...paymentGateways,
  ...search,
  ...browse,
  ...changeRoutes,
  ...webhooks,
  ...syncs,
  ...imports,
  ...health,
  ...alerts,
  ...stats,
  ...requests,
  ...serviceRoutes,
  ...me,
  ...accounts,
  ...ecommerce,
  ...mappings,
  ...mappingCheck,
  ...audit,
  ...consoleWebhooks,
  ...consoleRequests,
  ...consoleSales,
  ...consoleImports,
  ...consoleOrders,
  ...consoleStores,
  ...consoleBackOffice,
  ...consoleSystem,
  ...consoleMappings,
  ...consoleApiKeys,
]

export const scopes: readonly string[] = listScopes(routesWithoutKeys)

/** The API's table of contents: the definitions of all routes, also of those that only the console uses. */
export const routes: readonly RouteDefinition[] = [...routesWithoutKeys, ...buildApiKeyRoutes(scopes)]
