import { setTimeout as delay } from 'node:timers/promises'
import type { Change } from '../../simulator/control/changes.ts'
import type { Simulator } from '../../simulator/control/handle.ts'
import type { Person, Sku, Store, Style } from '../../simulator/shop/records.ts'
import type { Return } from '../../simulator/shop/sales.ts'
import type { Random } from '../support/random.ts'

/** What the head office and the tills have done, as far as somebody might undo it. */
export interface Done {
  changes: Map<string, number>
  /** What head office said last of a field that no client writes, by person. */
  said: Map<number, Record<'title' | 'home', string>>
  /** What tills took off vouchers, by number, in dollars. */
  taken: Map<string, number>
}

const names = ['Ada', 'Bo', 'Chloé', "D'Arcy", 'Émile', 'Fritz & Co', 'Gül', '<Hana>', 'Iñaki', '李']

/**
 * People at head office and at tills: they change customers, products, prices, stock, stores, vouchers and rewards, sell, despatch and
 * receive, until it is over. They keep away from what `isUnsettled`: a person or a return of which the client has not been told yet.
 */
export async function staff(
  simulator: Simulator,
  random: Random,
  isUnsettled: (made: Person | Return) => boolean,
  isOver: () => boolean,
): Promise<Done> {
  const done: Done = { changes: new Map(), said: new Map(), taken: new Map() }
  const { state } = simulator
  const change = (what: Change) => {
    done.changes.set(what.kind, (done.changes.get(what.kind) ?? 0) + 1)
    return simulator.change(what)
  }
  const some = <T>(list: Iterable<T>, is: (one: T) => boolean = () => true) => {
    const found = [...list].filter(is)
    return found.length ? random.pick(found) : undefined
  }
  const somePerson = () => some(state.persons.values(), person => !isUnsettled(person))
  const someShop = () => some(state.stores.values(), ({ kind }) => kind === 'shop') as Store
  const someStyle = () => some(state.styles.values(), ({ special }) => !special) as Style
  const someSku = (): Sku => {
    const { colours } = someStyle()
    return random.pick(random.pick(colours).skus)
  }
  const money = () => random.whole(100, 20_000) / 100

  const acts: (() => unknown)[] = [
    () => {
      const person = somePerson()
      if (!person) return
      const said = { title: random.pick(['Ms', 'Mr', 'Dr', '']), home: `03 ${random.whole(1_000_000, 9_999_999)}` }
      done.said.set(person.id, said)
      change({ kind: 'edit-person', id: person.id, fields: said })
    },
    () => {
      const person = somePerson()
      const fields = [
        { firstname: random.pick(names) },
        { surname: `${random.pick(names)} ${random.whole(1, 99)}${random.chance(0.2) ? ' ' : ''}` },
        { privacy: random.chance(0.5) },
        { references: { 1321: random.pick([4411, 4412, 4413, null]), 1322: random.pick([4421, 4422, null]) } },
        { billing: { city: random.pick(names), line1: `${random.whole(1, 99)} High St` } },
        { dateOfBirth: random.pick(['', '1980-02-29', '1999-12-31']) },
      ]
      if (person) change({ kind: 'edit-person', id: person.id, fields: random.pick(fields) })
    },
    // An e-mail address goes from one person to another.
    () => {
      const [from, to] = [somePerson(), somePerson()]
      if (!from?.email || !to || from === to || !isOfOffice(from) || !isOfOffice(to)) return
      const { email } = from
      change({ kind: 'edit-person', id: from.id, fields: { email: random.chance(0.3) ? to.email : '' } })
      change({ kind: 'edit-person', id: to.id, fields: { email } })
    },
    () => change({ kind: 'set-stock', skuId: someSku().id, storeId: someShop().id, quantity: random.whole(-3, 60) }),
    () => change({ kind: 'sell-stock', skuId: someSku().id, storeId: someShop().id, quantity: random.whole(1, 9) }),
    () => change({ kind: 'edit-sku', id: someSku().id, fields: { price: money() } }),
    () => change({ kind: 'edit-sku', id: someSku().id, fields: { barcode: String(random.whole(1e12, 9e12)) } }),
    () => change({ kind: 'edit-style', id: someStyle().id, fields: { name: `Style ${random.pick(names)}` } }),
    () => {
      const sale = { storeId: someShop().id, personId: random.chance(0.8) ? (somePerson()?.id ?? null) : null }
      const lines = Array.from({ length: random.whole(1, 3) }, () => ({ skuId: someSku().id, quantity: 1 }))
      change({ kind: 'till-sale', ...sale, lines })
    },
    () => {
      for (let left = 8; left > 0; left--) {
        const order = some(state.orders.values(), ({ lines }) => lines.every(({ status }) => status === 'Processing'))
        if (order) change({ kind: random.chance(0.9) ? 'despatch-order' : 'cancel-order', id: order.id })
      }
    },
    () => {
      const found = some(state.returns.values(), one => one.status === 9 && !isUnsettled(one))
      if (found) change({ kind: 'receive-return', id: found.id })
    },
    () => {
      const account = some(state.accounts.values())
      if (!account) return
      const rewards = account.rewards.map(lot => (random.chance(0.3) ? { ...lot, redeemed: lot.total } : lot))
      const fields = random.pick([{ spend: random.whole(0, 2_000) }, { rewards }, { points: account.points.slice(1) }])
      change({ kind: 'edit-account', id: account.id, fields })
    },
    // A till draws on a voucher, or merely validates it: our validation opens nothing any more.
    () => {
      const voucher = some(state.vouchers.values(), ({ state: is, currency }) => is === 'issued' && currency === 'AUD')
      if (!voucher || voucher.lockedUntil > 0) return
      const left = voucher.original - voucher.used - voucher.writtenOff
      const drawn = left > 5 && !voucher.wholeOnly ? random.whole(1, 3) : 0
      done.taken.set(voucher.number, (done.taken.get(voucher.number) ?? 0) + drawn)
      const fields = { used: voucher.used + drawn, validationId: '' }
      change({ kind: 'edit-voucher', number: voucher.number, fields })
    },
  ]
  /** What happens seldom: it takes something away, or changes what much depends on. */
  const rare: (() => unknown)[] = [
    () => state.styles.size > 6 && change({ kind: 'withdraw-style', id: someStyle().id }),
    () => {
      const gone = some(state.colours.values(), ({ style }) => !state.styles.has(style.id) && !style.special)
      if (gone) change({ kind: 'export-style', id: gone.style.id })
    },
    () => {
      const { colour, id } = someSku()
      if (colour.skus.length > 1) change({ kind: 'withdraw-sku', id })
    },
    () => change({ kind: 'edit-store', id: someShop().id, fields: { name: `Shop of ${random.pick(names)} ` } }),
    () => {
      const code = `N${random.whole(1, 99_999)}`
      const id = Number(change({ kind: 'add-reference', typeId: 1321, code, name: `New ${code}` }))
      const person = somePerson()
      if (person) change({ kind: 'edit-person', id: person.id, fields: { references: { 1321: id } } })
    },
    () => {
      const order = some(state.orders.values(), ({ lines }) => lines.every(({ status }) => status !== 'Processing'))
      if (order) change({ kind: 'forget-order', id: order.id })
    },
    () => {
      const voucher = some(state.vouchers.values(), ({ state: is }) => is === 'issued' || is === 'suspended')
      const fields = { state: voucher?.state === 'issued' && random.chance(0.5) ? 'suspended' : 'issued' }
      if (voucher) change({ kind: 'edit-voucher', number: voucher.number, fields })
    },
    () => change({ kind: 'allot-vouchers' }),
  ]
  while (!isOver()) {
    await delay(random.whole(10, 120))
    random.pick(random.chance(0.1) ? rare : acts)()
  }
  return done
}

/** Persons whom no client changes; nobody else's e-mail address moves. */
export const isOfOffice = ({ id, email }: Person) => id % 5 === 0 && !/@(?!example\.)/i.test(email)
