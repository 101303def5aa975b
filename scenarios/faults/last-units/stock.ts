import type { OrderInput } from '../../../client/src/index.ts'
import type { Random } from '../../../seed/random.ts'
import type { Settings } from '../../../src/domain/tenancy/service-settings.ts'
import type { CheckResult } from '../../support/expectations/check.ts'
import type { Installation, InstallationOptions } from '../../support/installation.ts'
import type { Measurements } from '../../support/report.ts'

/** The back office of the scenario, with one SKU that every client wants, and one unit of another SKU. */
export interface ContendedStock {
  sku: string
  probeSku: string
  settings: Partial<Settings>
  prepare: NonNullable<InstallationOptions['prepare']>
  buildOrder(client: number): OrderInput
  /** Makes this number of units available. */
  begin(installation: Installation, units: number): Promise<void>
  /** Imports or syncs the stock, and sells units at tills, until the round is over. */
  disturb(installation: Installation, options: DisturbOptions): Promise<void>
  /** Compares the sold units with the stock. Returns contradictions. */
  end(installation: Installation, round: number): Promise<string[]>
  summarize(placed: number): { measurements: Measurements; checks: CheckResult[] }
  close(): Promise<void>
}

export interface DisturbOptions {
  random: Random
  tillSales: number
  isOver: () => boolean
}
