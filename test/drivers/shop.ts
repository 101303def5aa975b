import assert from 'node:assert/strict'
import type { Simulator } from '../../simulator/control/handle.ts'
import { firstReleases } from '../../simulator/world/release.ts'
import { insertVouchers, type VoucherWithUsage } from '../../src/store/vouchers/vouchers.ts'
import { startTestApi, type TestApi } from '../support/service.ts'
import { type Apparel21Api, settings as apparel21Settings, startApparel21Api } from './apparel21.ts'

/** An API server with the driver under test. Every driver gets the same shop data. */
export interface Shop {
  api: TestApi
  /** The source of the shop data. The embedded driver uses a copy of the data and sends no calls. */
  simulator: Simulator
  /** The driver name that `GET /capabilities` returns. */
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
 * Releases before and after 2022.1, the first that can list changed customers. `CONTRACT_RELEASES=all` tests each
 * release that changed the behaviour of the simulator.
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
  const api = await startApparel21Api({ settings, simulatorOptions: { release } })
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

/** Opens the embedded driver on synced tables, with copies of the simulator's vouchers. */
async function openEmbedded(): Promise<Shop> {
  const source = await startApparel21Api({ settings })
  addVouchers(source.simulator)
  await source.sync()
  const api = await startTestApi({ sharedWith: source.api })
  await insertVouchers(api.db, api.keys, api.service, toVoucherRows(source))
  return {
    api,
    simulator: source.simulator,
    driver: 'embedded',
    release: settings.release,
    // The embedded driver ships an order as soon as it is placed.
    async ship() {},
    async stop() {
      await api.stop()
      await source.stop()
    },
  }
}

/** Numbers of usable vouchers. Each test uses its own. */
export const usableNumbers = ['6100001', '6100002', '6100003', '6100004', '6100005'] as const
export const usablePin = '0042'

function addVouchers({ state: { vouchers } }: Simulator) {
  const template = vouchers.get('6000001')
  assert.ok(template)
  for (const number of usableNumbers) vouchers.set(number, { ...template, number, pin: usablePin, original: 100 })
}

function toVoucherRows({ simulator }: Apparel21Api): VoucherWithUsage[] {
  const states: Readonly<Record<string, VoucherWithUsage['state']>> = { '6000003': 'redeemed', '6000004': 'pending' }
  return ['6000002', '6000003', '6000004', '6000007', ...usableNumbers].map(number => {
    const voucher = simulator.state.vouchers.get(number)
    assert.ok(voucher)
    return {
      number,
      pin: voucher.pin,
      expiryDate: voucher.expires,
      state: states[number] ?? 'active',
      // An unissued voucher is worth 0.00 in Apparel21, but the embedded driver requires more than 0.00.
      originalAmount: (voucher.original || 1).toFixed(2),
      usedAmount: voucher.used.toFixed(2),
    }
  })
}
