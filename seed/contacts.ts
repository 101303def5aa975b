import { toPlainLetters } from './names.ts'
import type { Place } from './places.ts'
import { createItemDraw, type Random } from './random.ts'

// The Australian regulator reserves these numbers, and 5550 xxxx and 7010 xxxx in each area, for fiction.
// New Zealand reserves none, so shoppers there have Australian mobile numbers or none.
const mobiles =
  '570006 570110 570156 570157 570158 570159 570313 570737 571266 571491 571804 572549 572665 572983 573087 573770 574118 574632 575254 575789 576398 576801 577426 577644 578148 578888 578957 579212 579455 579760'
    .split(' ')
    .map(digits => [`491 ${digits.slice(0, 3)}`, digits.slice(3)].join(' '))

/** Draws the telephone numbers of a person who lives near a place. */
export function drawPhones(random: Random, home: Place) {
  const abroad = home.country !== 'Australia'
  const mobile = random.chance(abroad ? 0.35 : 0.86) ? `${abroad ? '+61 ' : '0'}${random.pick(mobiles)}` : null
  const drawLandline = () =>
    `(${home.areaCode}) ${random.pick(['5550', '7010'])} ${String(random.integer(0, 9999)).padStart(4, '0')}`
  return {
    phoneMobile: mobile,
    phoneHome: !abroad && random.chance(0.2) ? drawLandline() : null,
    phoneWork: !abroad && random.chance(0.07) ? drawLandline() : null,
  }
}

const streetNames =
  'Acacia Banksia Beach Bellbird Bridge Cedar Chapel Church Clarence Dargan Elm Ferry Forge Foundry Gilbert Gordon Grevillea Harbour Hawthorn High Hill Jacaranda James Kingfisher Lake Links Lyndon Magnolia Maple Market Mill Myrtle Norfolk Orchard Park Pine Queen Railway Ridge River Rose School Shore Spring Station Stirling Tea_Tree Thornbill Union Victoria View Waratah Wattle Wharf Willow'
    .split(' ')
    .map(name => name.replace('_', ' '))
const drawStreetType = createItemDraw([
  ['St', 50],
  ['Rd', 18],
  ['Ave', 14],
  ['Cres', 5],
  ['Ct', 5],
  ['Pde', 3],
  ['Lane', 3],
  ['Tce', 2],
] as const)

/** Draws the address of a person who lives near a place. */
export function drawAddress(random: Random, home: Place) {
  const [city, postcode] = random.pick(home.suburbs)
  return {
    addressLine1: `${random.integer(1, random.chance(0.7) ? 90 : 480)} ${random.pick(streetNames)} ${drawStreetType(random)}`,
    addressLine2: random.chance(0.16) ? `${random.pick(['Unit', 'Flat', 'Apt'])} ${random.integer(1, 24)}` : null,
    city,
    state: home.state,
    postcode,
    country: home.country,
  }
}

const drawProvider = createItemDraw([
  ['example.com', 6],
  ['example.net', 3],
  ['example.org', 2],
] as const)

/** Returns a function that draws email addresses, each only once. */
export function createEmailDraw(random: Random) {
  const usedEmails = new Set<string>()
  return (firstname: string, surname: string, birthYear: string | undefined) => {
    const first = toPlainLetters(firstname)
    const last = toPlainLetters(surname)
    const year = birthYear ?? String(random.integer(1, 99))
    const local = random.pick([
      `${first}.${last}`,
      `${first}.${last}`,
      `${first}${last}`,
      `${first.slice(0, 1)}.${last}`,
      `${first}_${last}`,
      `${first}.${last}${year.slice(-2)}`,
      `${last}.${first}`,
    ])
    const domain = drawProvider(random)
    let email = `${local}@${domain}`
    for (let n = 2; usedEmails.has(email); n++) email = `${local}${n}@${domain}`
    usedEmails.add(email)
    return email
  }
}
