import { dayMs, formatDate, secondMs, type Wall } from '../shop/clock.ts'
import type { Random } from '../shop/random.ts'
import type { Loyalty, Person, Store } from '../shop/records.ts'
import { drawAddress, noAddress } from './stores.ts'
import { firstnames, surnames } from './words.ts'

const pickLetters = (name: string) => name.normalize('NFD').replace(/[^a-z]/gi, '')

interface PersonContext {
  today: Wall
  stores: readonly Store[]
  /** The number of codes with each beginning. */
  codes: Map<string, number>
  loyalties: { last: number }
}

function createCode(firstname: string, surname: string, codes: Map<string, number>): string {
  const start = (pickLetters(surname).slice(0, 4) + pickLetters(firstname).slice(0, 2)).toUpperCase()
  const count = codes.get(start) ?? 0
  codes.set(start, count + 1)
  return `${start}${String(count).padStart(2, '0')}`
}

function makeLoyalty(id: number, typeId: number, joinDate: string): Loyalty {
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

function makePerson(id: number, { today, stores, codes, loyalties }: PersonContext, random: Random): Person {
  const [firstname, surname] = [random.pick(firstnames), random.pick(surnames)]
  const started = today - random.integer(1, 1_500) * dayMs
  const startDate = formatDate(started)
  const isStaff = id % 50 === 7
  const mailbox = `${pickLetters(firstname)}.${pickLetters(surname)}${random.chance(0.05) ? '+shop' : ''}.${id}`
  const mobile = `04${String(random.integer(0, 99_999_999)).padStart(8, '0')}`
  // An import changed some persons in the same second.
  const imported = random.chance(0.1)
  const updated = imported
    ? today - 30 * dayMs + 7_200 * secondMs
    : Math.max(started, today - random.integer(0, 500) * dayMs) + random.integer(0, 86_399) * secondMs
  return {
    id,
    code: createCode(firstname, surname, codes),
    firstname,
    surname: random.chance(0.03) ? `${surname} ` : surname,
    title: random.pick(['', '', 'Ms', 'Mr', 'Dr']),
    initials: '',
    sex: random.pick(['', 'F', 'M', 'NS']),
    jobTitle: '',
    dateOfBirth: random.chance(0.4) ? formatDate(today - random.integer(18 * 365, 80 * 365) * dayMs) : '',
    startDate,
    password: '',
    privacy: random.chance(0.3),
    isAgent: isStaff,
    retailRep: isStaff,
    // The change timestamp must not be in the future.
    updated: Math.min(updated, today - secondMs),
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
    billing: drawAddress(random),
    delivery: random.chance(0.1) ? drawAddress(random) : noAddress,
    currency: random.chance(0.95) ? 'AUD' : '',
    loyalties: random.chance(0.25)
      ? [makeLoyalty(++loyalties.last, random.pick([8_561, 8_561, 8_563]), startDate)]
      : [],
    joinedStoreId: random.chance(0.9) ? random.pick(stores).id : 0,
  }
}

export function makePersons(count: number, context: PersonContext, random: Random): Map<number, Person> {
  return new Map(Array.from({ length: count }, (_, i) => [3_001 + i, makePerson(3_001 + i, context, random)]))
}
