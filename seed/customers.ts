import { type Day, dateText, dayOf, firstDay, programmeStart, referenceDay, timeText } from './calendar.ts'
import { address, mailbox, phones } from './contacts.ts'
import { person, plain, type Wearer } from './names.ts'
import { type Place, shops } from './places.ts'
import { drawBy, drawFrom, type Random, randomFor } from './random.ts'
import { ageGroups, idOf, interests, subscriptionMapping } from './references.ts'
import { storeId } from './stores.ts'

/** A customer: the row for `upsertCustomers`, and the habits for the sales. */
export interface Shopper {
  row: Record<string, unknown> & { id: string }
  wears: Wearer
  /** From the smallest size, 0, to the largest, 1. */
  build: number
  /** The shop nearest to home. */
  home: Place
  started: Day
  /** The shopping frequency, relative to the others: a few customers often, most seldom. */
  keenness: number
  /** The share of purchases on the web. */
  onWeb: number
  /** The day on which the customer joined the reward program. */
  joined: Day | null
  born: Day | null
}

const count = 5000

/** Most people accepted a loyalty card once it needed only an address. */
const joinsProgramme = 0.62

/** Yields the customers in the order of their sign-up. */
export function makeShoppers(): Shopper[] {
  const random = randomFor('customers')
  const email = mailbox(random)
  const nearest = drawBy(shops.map(shop => shop.weight))
  return startDays(random).map((started, i) =>
    makeShopper(random, String(60001 + i), started, shops[nearest.index(random)] as Place, email),
  )
}

/** Two in five were customers before the first sale. */
function startDays(random: Random) {
  const opened = dayOf('2018-03-05')
  return Array.from({ length: count }, () =>
    random.chance(0.4) ? random.integer(opened, firstDay - 1) : random.integer(firstDay, referenceDay - 7),
  ).sort((a, b) => a - b)
}

const titles = {
  women: drawFrom([
    ['Ms', 45],
    ['Mrs', 18],
    ['Miss', 8],
    ['Dr', 3],
    ['Mx', 1],
    [null, 25],
  ] as const),
  men: drawFrom([
    ['Mr', 65],
    ['Dr', 3],
    ['Mx', 1],
    [null, 31],
  ] as const),
}

function makeShopper(random: Random, id: string, started: Day, home: Place, mail: ReturnType<typeof mailbox>): Shopper {
  const { firstname, surname, wears } = person(random)
  const born = random.chance(0.78) ? birthday(random) : null
  const email = random.chance(0.93)
    ? mail(firstname, surname, born === null ? undefined : dateText(born).slice(0, 4))
    : null
  const contacts = phones(random, home)
  // A customer who signed up on the web has no joined store.
  const signedUpOnWeb = email !== null && random.chance(0.22)
  const online = email !== null && (signedUpOnWeb || random.chance(0.4))
  const platformId = online ? String(6_477_000_000_000 + Number(id) * 104_729) : null
  const emailSubscription = email !== null && random.chance(0.56)
  const smsSubscription = contacts.phoneMobile !== null && random.chance(0.27)
  const u = random.fraction()
  return {
    row: {
      id,
      code: `${plain(surname).slice(0, 4)}${plain(firstname).slice(0, 4)}${random.integer(10, 99)}`.toUpperCase(),
      title: titles[wears](random),
      firstname,
      surname,
      dateOfBirth: born === null ? null : dateText(born),
      startDate: timeText(started, 0),
      email,
      ...contacts,
      ...(random.chance(0.86) ? address(random, home) : {}),
      privacy: !emailSubscription && !smsSubscription && random.chance(0.8),
      emailSubscription,
      smsSubscription,
      referenceValues: {
        ...references(random, home, born),
        emailNews: subscriptionMapping.email[emailSubscription ? 'yes' : 'no'],
        smsNews: subscriptionMapping.sms[smsSubscription ? 'yes' : 'no'],
      },
      joinedStoreId: signedUpOnWeb ? null : storeId(home),
      ecommerceAdminId: platformId === null ? null : `gid://shop/Customer/${platformId}`,
      ecommerceLegacyId: platformId,
    },
    wears,
    build: (random.fraction() + random.fraction()) / 2,
    home,
    started,
    keenness: 1 / (0.03 + u) - 0.6,
    onWeb: online ? (signedUpOnWeb ? 0.75 : 0.35) : 0,
    joined:
      email !== null && random.chance(joinsProgramme)
        ? Math.max(started, programmeStart + random.integer(0, 60))
        : null,
    born,
  }
}

/** Returns an age from 17 to 83 on the reference day, mostly in the middle. */
const birthday = (random: Random) =>
  referenceDay - 17 * 366 - Math.floor((66 * 365 * (random.fraction() + random.fraction())) / 2)

function references(random: Random, home: Place, born: Day | null) {
  const age = born === null ? undefined : Math.floor((referenceDay - born) / 365.25)
  const group = age === undefined ? undefined : ageGroups.find(({ upTo }) => age <= upTo)
  return {
    ...(random.chance(0.55) ? { favouriteStore: idOf('favouriteStore', home.name) } : {}),
    ...(group ? { ageGroup: idOf('ageGroup', group.name) } : {}),
    ...(random.chance(0.35) ? { interest: idOf('interest', random.pick(interests)) } : {}),
  }
}
