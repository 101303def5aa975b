import { type Day, firstDay, formatDate, formatTime, parseDay, programStart, referenceDay } from './calendar.ts'
import { createEmailDraw, drawAddress, drawPhones } from './contacts.ts'
import { drawPerson, toPlainLetters, type Wearer } from './names.ts'
import { type Place, shops } from './places.ts'
import { createDraw, createItemDraw, type Random, randomFor } from './random.ts'
import { ageGroups, findReferenceId, interests, subscriptionMapping } from './references.ts'
import { getStoreId } from './stores.ts'

/** A customer: the row for `upsertCustomers`, and the habits that decide the sales. */
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
  webShare: number
  /** The day on which the customer joined the reward program. */
  joined: Day | null
  born: Day | null
}

const count = 5000

/** The share of customers with an email address who joined the reward program. */
const memberShare = 0.62

/** Creates the customers in the order of their sign-up. */
export function makeShoppers(): Shopper[] {
  const random = randomFor('customers')
  const drawEmail = createEmailDraw(random)
  const shopDraw = createDraw(shops.map(shop => shop.weight))
  return drawStartDays(random).map((started, i) =>
    makeShopper(random, String(60001 + i), started, shops[shopDraw.index(random)] as Place, drawEmail),
  )
}

/** Draws the sign-up days, in order. Two in five customers signed up before the first sale. */
function drawStartDays(random: Random) {
  const openingDay = parseDay('2018-03-05')
  return Array.from({ length: count }, () =>
    random.chance(0.4) ? random.integer(openingDay, firstDay - 1) : random.integer(firstDay, referenceDay - 7),
  ).sort((a, b) => a - b)
}

const titles = {
  women: createItemDraw([
    ['Ms', 45],
    ['Mrs', 18],
    ['Miss', 8],
    ['Dr', 3],
    ['Mx', 1],
    [null, 25],
  ] as const),
  men: createItemDraw([
    ['Mr', 65],
    ['Dr', 3],
    ['Mx', 1],
    [null, 31],
  ] as const),
}

function makeShopper(
  random: Random,
  id: string,
  started: Day,
  home: Place,
  drawEmail: ReturnType<typeof createEmailDraw>,
): Shopper {
  const { firstname, surname, wears } = drawPerson(random)
  const born = random.chance(0.78) ? drawBirthday(random) : null
  const email = random.chance(0.93)
    ? drawEmail(firstname, surname, born === null ? undefined : formatDate(born).slice(0, 4))
    : null
  const contacts = drawPhones(random, home)
  // A customer who signed up on the web has no joined store.
  const signedUpOnWeb = email !== null && random.chance(0.22)
  const isOnline = email !== null && (signedUpOnWeb || random.chance(0.4))
  const platformId = isOnline ? String(6_477_000_000_000 + Number(id) * 104_729) : null
  const emailSubscription = email !== null && random.chance(0.56)
  const smsSubscription = contacts.phoneMobile !== null && random.chance(0.27)
  const fraction = random.fraction()
  return {
    row: {
      id,
      code: `${toPlainLetters(surname).slice(0, 4)}${toPlainLetters(firstname).slice(0, 4)}${random.integer(10, 99)}`.toUpperCase(),
      title: titles[wears](random),
      firstname,
      surname,
      dateOfBirth: born === null ? null : formatDate(born),
      startDate: formatTime(started, 0),
      email,
      ...contacts,
      ...(random.chance(0.86) ? drawAddress(random, home) : {}),
      privacy: !emailSubscription && !smsSubscription && random.chance(0.8),
      emailSubscription,
      smsSubscription,
      referenceValues: {
        ...drawReferences(random, home, born),
        emailNews: subscriptionMapping.email[emailSubscription ? 'yes' : 'no'],
        smsNews: subscriptionMapping.sms[smsSubscription ? 'yes' : 'no'],
      },
      joinedStoreId: signedUpOnWeb ? null : getStoreId(home),
      ecommerceAdminId: platformId === null ? null : `gid://shop/Customer/${platformId}`,
      ecommerceLegacyId: platformId,
    },
    wears,
    build: (random.fraction() + random.fraction()) / 2,
    home,
    started,
    keenness: 1 / (0.03 + fraction) - 0.6,
    webShare: isOnline ? (signedUpOnWeb ? 0.75 : 0.35) : 0,
    joined:
      email !== null && random.chance(memberShare) ? Math.max(started, programStart + random.integer(0, 60)) : null,
    born,
  }
}

/** Draws a birthday. The ages on the reference day are from 17 to 83, mostly in the middle. */
const drawBirthday = (random: Random) =>
  referenceDay - 17 * 366 - Math.floor((66 * 365 * (random.fraction() + random.fraction())) / 2)

function drawReferences(random: Random, home: Place, born: Day | null) {
  const age = born === null ? undefined : Math.floor((referenceDay - born) / 365.25)
  const group = age === undefined ? undefined : ageGroups.find(({ upTo }) => age <= upTo)
  return {
    ...(random.chance(0.55) ? { favouriteStore: findReferenceId('favouriteStore', home.name) } : {}),
    ...(group ? { ageGroup: findReferenceId('ageGroup', group.name) } : {}),
    ...(random.chance(0.35) ? { interest: findReferenceId('interest', random.pick(interests)) } : {}),
  }
}
