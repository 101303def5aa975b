import { type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** SQL for the units of a stock level that can be sold. `stock`, `store`: the aliases of their rows. Units can have decimals. */
export const availableUnits = (service: Service, stock: Sql, store: Sql): Sql => sql`
  greatest(0, ${stock}.free_stock - coalesce(${stock}.buffer, ${store}.inventory_buffer, ${service.settings.inventoryBuffer}::integer) - ${stock}.reserved - ${stock}.allocated)`
