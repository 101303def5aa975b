import { type Sql, sql } from '../../database/db.ts'
import { mainConnection } from '../../domain/ecommerce/connection-settings.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** SQL condition: the row belongs to the connection of a service to its platform. */
export const isInMainConnection = ({ id }: Pick<Service, 'id'>): Sql =>
  sql`service_id = ${id} and connection_id = ${mainConnection}`
