import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findOrderId } from '../../store/orders/orders.ts'
import { erase } from '../../store/privacy/erasure.ts'
import type { CommitPhase } from '../../writes/write.ts'
import type { BackOffice } from '../port/back-office.ts'
import { capabilitiesOf, configured } from './capabilities.ts'
import { createCustomer, updateCustomer } from './customers.ts'
import { placeOrder } from './orders.ts'
import { createReturn } from './returns.ts'
import { rewardReads } from './rewards.ts'
import { issueVoucher } from './vouchers/issue.ts'
import { lockVoucher, lookUpVoucher, validateVoucher } from './vouchers/vouchers.ts'

/** The back office whose system of record are our own tables. It answers as the release that the service is set to. */
export const embedded = (service: Service): BackOffice => ({
  createCustomer: inOneTransaction(createCustomer),
  updateCustomer: inOneTransaction(updateCustomer),
  eraseCustomer:
    async ({ service, requireMatch }, id) =>
    tx =>
      erase(tx, service, id, requireMatch),
  placeOrder: inOneTransaction(placeOrder),
  createReturn: inOneTransaction(createReturn),
  returnReasons: async ({ settings }) => settings.returnReasons,
  findOrder: ({ db, service }, name) => findOrderId(db, service, name),
  lookUpVoucher: inOneTransaction(lookUpVoucher),
  validateVoucher: inOneTransaction(validateVoucher),
  lockVoucher: inOneTransaction(lockVoucher),
  issueVoucher: inOneTransaction(issueVoucher),
  ...rewardReads,
  unsupportedFields: new Map(),
  refreshHistory: async () => undefined,
  refreshOrders: async () => undefined,
  capabilities: async db => capabilitiesOf(service, db && (await configured(db, service))),
})

/** Nobody else is asked: all of a write is in its last transaction. */
function inOneTransaction<W extends object, A extends unknown[], T>(
  work: (finishing: W & { tx: Db }, ...given: A) => Promise<T>,
) {
  return async (write: W, ...given: A): Promise<CommitPhase<T>> =>
    tx =>
      work({ ...write, tx }, ...given)
}
