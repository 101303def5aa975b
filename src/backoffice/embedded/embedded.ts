import type { Db } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'
import { findOrderId } from '../../store/orders/orders.ts'
import { erase } from '../../store/privacy/erasure.ts'
import { findRewardAccount } from '../../store/rewards/rewards.ts'
import type { CommitPhase } from '../../writes/write.ts'
import type { BackOffice } from '../port/back-office.ts'
import { buildCapabilities, loadConfiguration } from './capabilities.ts'
import { couponWrites } from './coupons.ts'
import { createCustomer, updateCustomer } from './customers.ts'
import { createExchange } from './exchanges.ts'
import { createCancellation, createPickupStep, createShipment } from './fulfilment.ts'
import { placeOrder, rejectSoldOut } from './orders.ts'
import { quoteOrder } from './quotes.ts'
import { createReturn, receiveReturn, refundReturn } from './returns.ts'
import { endRedemption, redeemRewards } from './rewards.ts'
import { stockReads } from './stock.ts'
import { issueVoucher } from './vouchers/issue.ts'
import { lockVoucher, lookUpVoucher, validateVoucher } from './vouchers/vouchers.ts'

/** The back office whose system of record is our own tables. It behaves like the release in the setting `backOfficeVersion`. */
export const embedded = (service: Service): BackOffice => ({
  createCustomer: runInOneTransaction(createCustomer),
  updateCustomer: runInOneTransaction(updateCustomer),
  eraseCustomer:
    async ({ service: owner, requireMatch }, id) =>
    tx =>
      erase(tx, owner, id, requireMatch),
  async placeOrder(write, input) {
    await rejectSoldOut(write, input)
    return tx => placeOrder({ ...write, tx }, input)
  },
  createReturn: runInOneTransaction(createReturn),
  createExchange: runInOneTransaction(createExchange),
  createShipment: runInOneTransaction(createShipment),
  createCancellation: runInOneTransaction(createCancellation),
  markReady: runInOneTransaction(createPickupStep('ready')),
  markCollected: runInOneTransaction(createPickupStep('collect')),
  receiveReturn: runInOneTransaction(receiveReturn),
  refundReturn: runInOneTransaction(refundReturn),
  returnReasons: async ({ settings }) => settings.returnReasons,
  findOrder: ({ db, service: owner }, name) => findOrderId(db, owner, name),
  lookUpVoucher: runInOneTransaction(lookUpVoucher),
  validateVoucher: runInOneTransaction(validateVoucher),
  lockVoucher: runInOneTransaction(lockVoucher),
  issueVoucher: runInOneTransaction(issueVoucher),
  redeemRewards: runInOneTransaction(redeemRewards),
  endRedemption: runInOneTransaction(endRedemption),
  rewardAccount: ({ db, service: owner }, by) => findRewardAccount(db, owner, by),
  ...couponWrites,
  quoteOrder,
  listFreightOptions: async () => [],
  ...stockReads,
  unsupportedFields: new Map(),
  unshippedUnits: service.settings.allocated,
  refreshHistory: async () => undefined,
  refreshOrders: async () => undefined,
  capabilities: async db => buildCapabilities(service, db && (await loadConfiguration(db, service))),
})

/** Runs all of a write in its commit phase, because no other system is involved. */
function runInOneTransaction<W extends object, A extends unknown[], T>(
  work: (write: W & { tx: Db }, ...inputs: A) => Promise<T>,
) {
  return async (write: W, ...inputs: A): Promise<CommitPhase<T>> =>
    tx =>
      work({ ...write, tx }, ...inputs)
}
