import assert from 'node:assert/strict'
import type { Simulator } from '../../simulator/control/handle.ts'
import { firstReleases } from '../../simulator/world/release.ts'
import { insertVouchers, type VoucherRow } from '../../src/store/vouchers/vouchers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type Apparel21Api, settings as apparel21Settings, startApparel21Api } from './apparel21.ts'

/** A driver, with the same shop behind it as behind every other. */
export interface Shop {
  api: TestApi
  /** The source of the shop's data. Behind the embedded driver only its data is used. */
  simulator: Simulator
  /** The driver that `GET /capabilities` returns. */
  driver: 'embedded' | 'apparel21'
  release: string
  /** Ships an order, as back-office staff do. */
  ship(orderId: string): Promise<void>
  stop(): Promise<void>
}

export interface DriverUnderTest {
  name: string
  release: string
  open(): Promise<Shop>
}

const settings = {
  ...apparel21Settings,
  release: '2025.1',
  returnReasons: [
    { code: 'SIZE', name: 'Wrong size' },
    { code: 'FAULTY', name: 'Faulty' },
  ],
  defaultReturnReason: 'FAULTY',
  subscriptionMapping: { email: { type: 'eMailOptIn', yes: '4421', no: '4422' } },
}

/**
 * Releases on both sides of 2022.1, the first one that can list changed customers. `CONTRACT_RELEASES=all`: each one that changed what the
 * simulator does.
 */
const releases =
  process.env.CONTRACT_RELEASES === 'all'
    ? [...new Set(Object.values(firstReleases))].sort()
    : ['2016.3', '2020.1', '2021.3', '2022.1', '2023.4a', '2025.1']

export const drivers: readonly DriverUnderTest[] = [
  { name: 'embedded', release: settings.release, open: openEmbedded },
  ...releases.map(release => ({ name: `apparel21 ${release}`, release, open: () => openApparel21(release) })),
]

async function openApparel21(release: string): Promise<Shop> {
  const api = await startApparel21Api({ settings, simulated: { release } })
  addVouchers(api.simulator)
  await api.sync()
  return {
    ...api,
    driver: 'apparel21',
    release,
    async ship(orderId) {
      api.simulator.change({ kind: 'despatch-order', id: Number(orderId) })
    },
  }
}

/** The embedded driver over the tables that a sync has filled, with the vouchers that the simulator has. */
async function openEmbedded(): Promise<Shop> {
  const source = await startApparel21Api({ settings })
  addVouchers(source.simulator)
  await source.sync()
  const api = await startTestApi({ sharedWith: source.api })
  await insertVouchers(api.db, api.keys, api.service, vouchersOf(source))
  return {
    api,
    simulator: source.simulator,
    driver: 'embedded',
    release: settings.release,
    // It ships what is ordered at once.
    async ship() {},
    async stop() {
      await api.stop()
      await source.stop()
    },
  }
}

/** Vouchers that can be used, one a test. */
export const usable = ['6100001', '6100002', '6100003', '6100004', '6100005'] as const
export const pinOfUsable = '0042'

function addVouchers({ state: { vouchers } }: Simulator) {
  const usual = vouchers.get('6000001')
  assert.ok(usual)
  for (const number of usable) vouchers.set(number, { ...usual, number, pin: pinOfUsable, original: 100 })
}

function vouchersOf({ simulator }: Apparel21Api): VoucherRow[] {
  const states: Readonly<Record<string, VoucherRow['state']>> = { '6000003': 'redeemed', '6000004': 'pending' }
  return ['6000002', '6000003', '6000004', '6000007', ...usable].map(number => {
    const voucher = simulator.state.vouchers.get(number)
    assert.ok(voucher)
    return {
      number,
      pin: voucher.pin,
      expiryDate: voucher.expires,
      state: states[number] ?? 'active',
      // One that is not issued is worth nothing yet, of which there is no voucher here.
      originalAmount: (voucher.original || 1).toFixed(2),
      usedAmount: voucher.used.toFixed(2),
    }
  })
}
