import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../../seed/random.ts'
import type { Change } from '../../../simulator/control/changes.ts'
import type { Simulator } from '../../../simulator/control/handle.ts'
import type { Person, Sku, Store, Style } from '../../../simulator/shop/records.ts'
import type { OrderLine, Return } from '../../../simulator/shop/sales.ts'

/** The changes by back-office staff and tills that checks need. */
export interface StaffWork {
  /** Number of changes by kind. */
  changes: Map<string, number>
  /** Last values of fields that only back-office staff write, by person. */
  titles: Map<number, Record<'title' | 'home', string>>
  /** Dollars that tills drew from vouchers, by number. */
  drawn: Map<string, number>
}

const names = ['Ada', 'Bo', 'Chloé', "D'Arcy", 'Émile', 'Fritz & Co', 'Gül', '<Hana>', 'Iñaki', '李']

/**
 * Runs back-office staff and tills: they change customers, products, prices, stock, stores, vouchers and rewards,
 * sell, despatch and receive, until `isOver`. They don't change persons and returns whose client is
 * still waiting for a response (`awaitsResponse`).
 */
export async function runStaff(
  simulator: Simulator,
  random: Random,
  awaitsResponse: (record: Person | Return) => boolean,
  isOver: () => boolean,
): Promise<StaffWork> {
  const work: StaffWork = { changes: new Map(), titles: new Map(), drawn: new Map() }
  const { state } = simulator
  const apply = (change: Change) => {
    work.changes.set(change.kind, (work.changes.get(change.kind) ?? 0) + 1)
    return simulator.change(change)
  }
  const pickMatching = <T>(list: Iterable<T>, matches: (item: T) => boolean = () => true) => {
    const matching = [...list].filter(matches)
    return matching.length ? random.pick(matching) : undefined
  }
  const pickPerson = () => pickMatching(state.persons.values(), person => !awaitsResponse(person))
  const pickShop = () => pickMatching(state.stores.values(), ({ kind }) => kind === 'shop') as Store
  const pickStyle = () => pickMatching(state.styles.values(), ({ special }) => !special) as Style
  const pickSku = (): Sku => {
    const { colours } = pickStyle()
    return random.pick(random.pick(colours).skus)
  }
  const randomPrice = () => random.integer(100, 20_000) / 100

  const actions: (() => unknown)[] = [
    () => {
      const person = pickPerson()
      if (!person) return
      const fields = { title: random.pick(['Ms', 'Mr', 'Dr', '']), home: `03 ${random.integer(1_000_000, 9_999_999)}` }
      work.titles.set(person.id, fields)
      apply({ kind: 'edit-person', id: person.id, fields })
    },
    () => {
      const person = pickPerson()
      const fields = [
        { firstname: random.pick(names) },
        { surname: `${random.pick(names)} ${random.integer(1, 99)}${random.chance(0.2) ? ' ' : ''}` },
        { privacy: random.chance(0.5) },
        { references: { 1321: random.pick([4411, 4412, 4413, null]), 1322: random.pick([4421, 4422, null]) } },
        { billing: { city: random.pick(names), line1: `${random.integer(1, 99)} High St` } },
        { dateOfBirth: random.pick(['', '1980-02-29', '1999-12-31']) },
      ]
      if (person) apply({ kind: 'edit-person', id: person.id, fields: random.pick(fields) })
    },
    // An email address moves from one person to another.
    () => {
      const [from, to] = [pickPerson(), pickPerson()]
      if (!from?.email || !to || from === to || !isOwnedByStaff(from) || !isOwnedByStaff(to)) return
      const { email } = from
      apply({ kind: 'edit-person', id: from.id, fields: { email: random.chance(0.3) ? to.email : '' } })
      apply({ kind: 'edit-person', id: to.id, fields: { email } })
    },
    () => apply({ kind: 'set-stock', skuId: pickSku().id, storeId: pickShop().id, quantity: random.integer(-3, 60) }),
    () => apply({ kind: 'sell-stock', skuId: pickSku().id, storeId: pickShop().id, quantity: random.integer(1, 9) }),
    () => apply({ kind: 'edit-sku', id: pickSku().id, fields: { price: randomPrice() } }),
    () => apply({ kind: 'edit-sku', id: pickSku().id, fields: { barcode: String(random.integer(1e12, 9e12)) } }),
    () => apply({ kind: 'edit-style', id: pickStyle().id, fields: { name: `Style ${random.pick(names)}` } }),
    () => {
      const sale = { storeId: pickShop().id, personId: random.chance(0.8) ? (pickPerson()?.id ?? null) : null }
      const lines = Array.from({ length: random.integer(1, 3) }, () => ({ skuId: pickSku().id, quantity: 1 }))
      apply({ kind: 'till-sale', ...sale, lines })
    },
    () => {
      for (let remaining = 8; remaining > 0; remaining--) {
        const order = pickMatching(state.orders.values(), ({ lines }) =>
          lines.every(({ status }) => status === 'Processing'),
        )
        if (order) apply({ kind: random.chance(0.9) ? 'despatch-order' : 'cancel-order', id: order.id })
      }
    },
    // Despatches all lines except the last one, then often moves a line into a second parcel.
    () => {
      const order = pickMatching(
        state.orders.values(),
        candidate => new Set(candidate.lines.map(({ skuId }) => skuId)).size > 2 && candidate.lines.every(isProcessing),
      )
      if (!order) return
      const { id, lines } = order
      const last = lines.at(-1)?.skuId
      const skuIds = lines.flatMap(({ skuId }) => (skuId === last ? [] : skuId))
      apply({ kind: 'despatch-order', id, conNote: `P1-${id}`, skuIds })
      if (random.chance(0.7)) apply({ kind: 'split-shipment', id, conNote: `P2-${id}` })
    },
    () => {
      const open = pickMatching(state.returns.values(), record => record.status === 9 && !awaitsResponse(record))
      if (!open) return
      const { id, lines } = open
      apply(
        random.pick<Change>([
          ...Array.from({ length: 5 }, (): Change => ({ kind: 'receive-return', id })),
          { kind: 'cancel-return', id },
          { kind: 'cancel-return-line', id, skuId: lines[0]?.skuId ?? 0 },
          { kind: 'mark-return', id, status: 'Returned Merged' },
          { kind: 'mark-return', id, status: 'Quarantined' },
        ]),
      )
    },
    () => {
      const received = pickMatching(state.returns.values(), ({ status }) => status === 10)
      if (received) apply({ kind: 'complete-return', id: received.id })
    },
    () => {
      const account = pickMatching(state.accounts.values())
      if (!account) return
      const rewards = account.rewards.map(lot => (random.chance(0.3) ? { ...lot, redeemed: lot.total } : lot))
      const fields = random.pick([
        { spend: random.integer(0, 2_000) },
        { rewards },
        { points: account.points.slice(1) },
      ])
      apply({ kind: 'edit-account', id: account.id, fields })
    },
    // A till draws on a voucher or only validates it: either ends the API's validation.
    () => {
      const voucher = pickMatching(
        state.vouchers.values(),
        candidate => candidate.state === 'issued' && candidate.currency === 'AUD',
      )
      if (!voucher || voucher.lockedUntil > 0) return
      const remaining = voucher.original - voucher.used - voucher.writtenOff
      const drawn = remaining > 5 && !voucher.wholeOnly ? random.integer(1, 3) : 0
      work.drawn.set(voucher.number, (work.drawn.get(voucher.number) ?? 0) + drawn)
      const fields = { used: voucher.used + drawn, validationId: '' }
      apply({ kind: 'edit-voucher', number: voucher.number, fields })
    },
  ]
  /** Actions that remove records, or change records on which many others depend. */
  const rareActions: (() => unknown)[] = [
    () => state.styles.size > 6 && apply({ kind: 'withdraw-style', id: pickStyle().id }),
    () => {
      const withdrawn = pickMatching(
        state.colours.values(),
        ({ style }) => !state.styles.has(style.id) && !style.special,
      )
      if (withdrawn) apply({ kind: 'export-style', id: withdrawn.style.id })
    },
    () => {
      const { colour, id } = pickSku()
      if (colour.skus.length > 1) apply({ kind: 'withdraw-sku', id })
    },
    () => apply({ kind: 'edit-store', id: pickShop().id, fields: { name: `Shop of ${random.pick(names)} ` } }),
    () => {
      const location = pickMatching(state.stores.values(), ({ kind }) => kind !== 'shop')
      if (location) apply({ kind: 'edit-store', id: location.id, fields: { name: `Stock of ${random.pick(names)} ` } })
    },
    () => state.stores.size < 12 && apply({ kind: 'add-warehouse', name: `Overflow ${random.integer(1, 99)}` }),
    () => {
      const code = `N${random.integer(1, 99_999)}`
      const id = Number(apply({ kind: 'add-reference', typeId: 1321, code, name: `New ${code}` }))
      const person = pickPerson()
      if (person) apply({ kind: 'edit-person', id: person.id, fields: { references: { 1321: id } } })
    },
    () => {
      const order = pickMatching(state.orders.values(), ({ lines }) =>
        lines.every(({ status }) => status !== 'Processing'),
      )
      if (order) apply({ kind: 'forget-order', id: order.id })
    },
    () => {
      const voucher = pickMatching(
        state.vouchers.values(),
        candidate => candidate.state === 'issued' || candidate.state === 'suspended',
      )
      const fields = { state: voucher?.state === 'issued' && random.chance(0.5) ? 'suspended' : 'issued' }
      if (voucher) apply({ kind: 'edit-voucher', number: voucher.number, fields })
    },
    () => apply({ kind: 'allot-vouchers' }),
  ]
  while (!isOver()) {
    await delay(random.integer(10, 120))
    random.pick(random.chance(0.1) ? rareActions : actions)()
  }
  return work
}

const isProcessing = ({ status }: OrderLine) => status === 'Processing'

/** True for persons that no shopper changes. Only their email addresses move to other persons. */
export const isOwnedByStaff = ({ id, email }: Person) => id % 5 === 0 && !/@(?!example\.)/i.test(email)
