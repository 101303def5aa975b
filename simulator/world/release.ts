/** Parses a release such as `2022.1` or `2023.4a`. Throws a TypeError if the string is not a release. */
export function parseRelease(text: string): readonly [year: number, number: number, letter: string] {
  const match = /^(\d{4})\.(\d{1,2})([a-z]?)$/i.exec(text)
  if (!match) throw new TypeError(`${text} is not a release such as 2022.1 or 2023.4a`)
  return [Number(match[1]), Number(match[2]), (match[3] ?? '').toLowerCase()]
}

/** True if a release is equal to or later than another. Compares year, number and letter. */
export function isAtLeast(release: string, first: string): boolean {
  const [year, number, letter] = parseRelease(release)
  const [firstYear, firstNumber, firstLetter] = parseRelease(first)
  if (year !== firstYear) return year > firstYear
  if (number !== firstNumber) return number > firstNumber
  return letter >= firstLetter
}

/** The release in which each feature appeared. */
export const firstReleases = {
  extendedReferences: '2015.2',
  productsUpdatedAfter: '2016.3',
  returns: '2017.2',
  productCustomData: '2019.1',
  personDocket: '2020.1',
  personCustomData: '2020.1',
  imageUrls: '2021.1',
  freightOptions: '2021.1',
  personOrdersUpdatedAfter: '2021.1',
  voucherCurrency: '2021.2',
  futurePrices: '2021.2',
  allStyles: '2021.2',
  nonReturnable: '2021.2',
  partnerOrderId: '2021.3',
  coupons: '2021.3',
  personsUpdatedAfter: '2022.1',
  /** An assumption: the guide doesn't list paging of persons, but a live client uses it. */
  personsPaging: '2022.1',
  review: '2022.1',
  voucherDeliveryDate: '2022.3',
  /** Inferred from "Documented October 2022": 2022.1 was also documented in the weeks before its quarter. */
  ordersOfEveryone: '2022.4',
  simpleFeeds: '2023.3',
  shipmentCartons: '2023.4',
  orderLineWarehouse: '2023.4a',
  returnPayments: '2024.2',
  expiredRewards: '2025.1',
} as const satisfies Record<string, string>

export type Feature = keyof typeof firstReleases
