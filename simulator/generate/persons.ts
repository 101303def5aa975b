import { dateText, day, second, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Loyalty, Person, Store } from '../shop/records.ts'
import { noAddress, someAddress } from './stores.ts'
import { firstnames, surnames } from './words.ts'

const letters = (name: string) => name.normalize('NFD').replace(/[^a-z]/gi, '')

interface Drawn {
  today: Wall
  stores: readonly Store[]
  /** How many have each beginning of a code. */
  codes: Map<string, number>
  loyalties: { last: number }
}

function codeOf(firstname: string, surname: string, codes: Map<string, number>): string {
  const start = (letters(surname).slice(0, 4) + letters(firstname).slice(0, 2)).toUpperCase()
  const count = codes.get(start) ?? 0
  codes.set(start, count + 1)
  return `${start}${String(count).padStart(2, '0')}`
}

function loyaltyOf(id: number, typeId: number, joinDate: string): Loyalty {
  return {
    id,
    typeId,
    cardNumber: `LM${String(id).padStart(6, '0')}`,
    expiry: '',
    balance: '',
    creditStatus: '',
    message: '',
    joinDate,
    statusId: '43701',
    active: true,
  }
}

function makePerson(id: number, { today, stores, codes, loyalties }: Drawn, random: Random): Person {
  const [firstname, surname] = [random.pick(firstnames), random.pick(surnames)]
  const started = today - random.integer(1, 1_500) * day
  const startDate = dateText(started)
  const isStaff = id % 50 === 7
  const mailbox = `${letters(firstname)}.${letters(surname)}${random.chance(0.05) ? '+shop' : ''}.${id}`
  const mobile = `04${String(random.integer(0, 99_999_999)).padStart(8, '0')}`
  // Some were changed together, by an import: in the same second.
  const imported = random.chance(0.1)
  const updated = imported
    ? today - 30 * day + 7_200 * second
    : Math.max(started, today - random.integer(0, 500) * day) + random.integer(0, 86_399) * second
  return {
    id,
    code: codeOf(firstname, surname, codes),
    firstname,
    surname: random.chance(0.03) ? `${surname} ` : surname,
    title: random.pick(['', '', 'Ms', 'Mr', 'Dr']),
    initials: '',
    sex: random.pick(['', 'F', 'M', 'NS']),
    jobTitle: '',
    dateOfBirth: random.chance(0.4) ? dateText(today - random.integer(18 * 365, 80 * 365) * day) : '',
    startDate,
    password: '',
    privacy: random.chance(0.3),
    isAgent: isStaff,
    retailRep: isStaff,
    // Nothing is changed in the future: the last day ends where it is.
    updated: Math.min(updated, today - second),
    email: random.chance(0.06)
      ? ''
      : `${random.chance(0.1) ? mailbox.toUpperCase() : mailbox.toLowerCase()}@example.test`,
    home: random.chance(0.85) ? mobile : '',
    mobile: random.chance(0.3) ? mobile : '',
    work: '',
    references: new Map([
      ...(random.chance(0.5) ? [[1_321, random.integer(4_411, 4_413)] as const] : []),
      ...(random.chance(0.7) ? [[1_322, random.integer(4_421, 4_422)] as const] : []),
      ...(isStaff ? [[27, 2_701] as const] : []),
    ]),
    customData: random.chance(0.2)
      ? new Map([
          [
            'Marketing',
            new Map([
              ['EmailOptIn', ['true']],
              ['Interests', ['Dresses', 'Knits']],
            ]),
          ],
        ])
      : new Map(),
    billing: someAddress(random),
    delivery: random.chance(0.1) ? someAddress(random) : noAddress,
    currency: random.chance(0.95) ? 'AUD' : '',
    loyalties: random.chance(0.25) ? [loyaltyOf(++loyalties.last, random.pick([8_561, 8_561, 8_563]), startDate)] : [],
    joinedStoreId: random.chance(0.9) ? random.pick(stores).id : 0,
  }
}

export function makePersons(count: number, drawn: Drawn, random: Random): Map<number, Person> {
  return new Map(Array.from({ length: count }, (_, i) => [3_001 + i, makePerson(3_001 + i, drawn, random)]))
}
