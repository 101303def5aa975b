import { raw, type Sql, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/**
 * Planner fences: the only ways in which a statement hides something from PostgreSQL's planner.
 * Use one only if a plan snapshot or a measurement shows that the plan without it is worse.
 * Reasons: contributing/decisions/0035-planner-fences.md.
 */

/**
 * Returns a parameter whose value the planner can't estimate with. Near the end of a list it expects few rows, so it would plan each page again,
 * although the plan stays the same and planning takes as long as reading.
 */
export const opaqueParam = (value: string, type: 'text' | 'timestamp' | 'timestamptz'): Sql =>
  sql`(select ${value}::${raw(type)})`

/**
 * Returns the ID of a service, hidden from the planner, for looking up many rows by their keys. The planner expects almost no rows of a service
 * that its statistics don't contain yet, and would read all of them for each lookup. With a hidden ID it expects a service of average size.
 */
export const opaqueServiceId = (service: Service): Sql => sql`(select ${service.id}::integer)`

/**
 * Returns a subquery, for `from ${…} name` or `with name as ${…}`, that the planner plans separately: conditions aren't pushed into it,
 * its joins aren't reordered with those outside, and its columns are computed once. If a common table expression is used twice, it runs once.
 */
export const materialized = (query: Sql): Sql => sql`(${query} offset 0)`
