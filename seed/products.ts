import { type Day, parseDay, referenceDay } from './calendar.ts'
import { categories } from './catalogue/categories.ts'
import type { Category, Gender } from './catalogue/category.ts'
import { computePercentage } from './money.ts'
import { type Random, randomFor } from './random.ts'

export interface Style {
  id: string
  code: string
  name: string
  description: string
  sizeRange: string
  category: Category
  gender: Gender
  brand: string
  fabric: string
  season: string
  /** The first day of sale. */
  launched: Day
  /** The sales weight, relative to the other styles. */
  weight: number
  /** Cents, before any markdown. */
  price: number
  colours: Colour[]
}

export interface Colour {
  id: string
  code: string
  name: string
  ecommerceProductId: string | null
  markdownStatus: 'none' | 'markdown' | 'clearance'
  /** In cents, from the day of the markdown. */
  price: number
  markedDown: Day | null
  sizes: Sku[]
}

export interface Sku {
  id: string
  sku: string
  size: string
  sequence: number
  barcode: string
}

const words =
  'Aero Alcove Anchor Atlas Banksia Beacon Billow Birch Bramble Breeze Brook Calder Canopy Cascade Cedar Cinder Clove Coast Copper Coral Cove Crest Cygnet Dale Dapple Delta Drift Dune Dusk Echo Eddy Ember Estuary Fable Fathom Fennel Fern Finch Fjord Flint Foxglove Gable Gale Garnet Glade Granite Grove Gully Harbour Haven Hazel Heath Heron Hollow Horizon Inlet Iris Ivy Jetty Juniper Kelp Kestrel Lagoon Larch Lichen Linden Lumen Magpie Mallee Maple Marlin Meadow Mesa Mistral Moss Myrtle Nimbus Nook Osprey Paddock Pebble Pier Plover Quarry Quill Ridge Rill Rook Rowan Sable Sail Sedge Shale Shoal Sorrel Spindle Spruce Summit Swift Tarn Tern Thistle Tidal Timber Topaz Umber Vale Verge Wander Wattle Willow Wren Yarrow Zephyr'.split(
    ' ',
  )

const colourNames: Record<string, string> = {
  BLK: 'Black',
  BLS: 'Blush',
  CHR: 'Charcoal',
  CLR: 'Claret',
  ECR: 'Ecru',
  FOR: 'Forest',
  GRY: 'Grey Marle',
  IND: 'Indigo',
  LIL: 'Lilac',
  LTW: 'Light Wash',
  MDW: 'Mid Wash',
  MUS: 'Mustard',
  NVY: 'Navy',
  OAT: 'Oatmeal',
  OLV: 'Olive',
  PLM: 'Plum',
  RAW: 'Raw',
  RST: 'Rust',
  SGE: 'Sage',
  SKY: 'Sky',
  SND: 'Sand',
  STL: 'Steel',
  TEL: 'Teal',
  TOB: 'Tobacco',
  WHT: 'White',
}

/** The first day of each season. */
const launches: Record<string, Day> = {
  Core: 0,
  'Winter 2024': parseDay('2024-02-26'),
  'Summer 2024/25': parseDay('2024-09-02'),
  'Winter 2025': parseDay('2025-02-24'),
  'Summer 2025/26': parseDay('2025-09-01'),
  'Winter 2026': parseDay('2026-02-23'),
  'Summer 2026/27': parseDay('2026-08-31'),
}

export const seasons = Object.keys(launches)

/** Computes the check digit of an EAN-13. */
function computeCheckDigit(twelve: string) {
  let sum = 0
  for (let i = 0; i < 12; i++) sum += Number(twelve[i]) * (i % 2 ? 3 : 1)
  return (10 - (sum % 10)) % 10
}

/** Creates an in-store EAN-13, whose prefix 2 belongs to no manufacturer. */
export const createBarcode = (number: number) => {
  const twelve = `200${String(number).padStart(9, '0')}`
  return `${twelve}${computeCheckDigit(twelve)}`
}

/** Returns a reduced price in cents that ends in 95. */
const reducePrice = (price: number, percent: number) =>
  Math.max(495, Math.round((price - computePercentage(price, percent)) / 100) * 100 - 5)

function formatSizeRange(sizes: readonly string[]) {
  return sizes.length === 1 ? 'One size' : `${sizes[0]}-${sizes.at(-1)}`
}

/** Creates the range: about 150 styles, each in two to five colours and the sizes of its type. */
export function makeStyles(): Style[] {
  const random = randomFor('products')
  const shuffled = random.sample(words, words.length)
  const counter = { colour: 61000, sku: 120000 }
  return categories
    .flatMap(category => {
      const descriptions = random.sample(combineSentences(category), category.styles)
      return Array.from({ length: category.styles }, (_, index) => ({
        category,
        index,
        text: descriptions[index] ?? '',
      }))
    })
    .map(({ category, index, text }, i) => {
      const [noun, nounCode, ownFabric] = category.nouns[index % category.nouns.length] as Category['nouns'][number]
      const word = shuffled[i % shuffled.length] as string
      const gender = random.pick(category.genders)
      const fabric = ownFabric ?? random.pick(category.fabrics)
      const season = random.chance(0.55) ? 'Core' : random.pick(seasons.slice(1))
      const price = random.pick(category.prices)
      const code = `${word.toUpperCase()}-${nounCode}`
      const sizes = category.sizes[gender].split(' ')
      return {
        id: String(5001 + i),
        code,
        name: `${word} ${noun}`,
        description: text.replaceAll('{fabric}', fabric),
        sizeRange: formatSizeRange(sizes),
        category,
        gender,
        brand: random.pick(category.brands),
        fabric,
        season,
        launched: launches[season] as Day,
        // A few styles sell best: the weights are between half and four times the popularity, mostly low.
        weight: category.popularity / (0.25 + 1.75 * random.fraction()),
        price,
        colours: random
          .sample(category.palette.split(' '), random.integer(2, 5))
          .map(colour => makeColour(random, counter, code, colour, price, sizes, season)),
      }
    })
}

/** Combines every opening with every closing, so that no two styles of a category have the same text. */
const combineSentences = ({ openings, closings }: Category) =>
  openings.flatMap(opening => closings.map(closing => `${opening} ${closing}`))

function makeColour(
  random: Random,
  counter: { colour: number; sku: number },
  styleCode: string,
  code: string,
  price: number,
  sizes: readonly string[],
  season: string,
): Colour {
  const isOld = season !== 'Core' && (launches[season] as Day) < referenceDay - 200
  const fate = random.fraction()
  const markdownStatus = fate < (isOld ? 0.2 : 0.03) ? 'clearance' : fate < (isOld ? 0.55 : 0.13) ? 'markdown' : 'none'
  const percent = markdownStatus === 'clearance' ? random.pick([40, 50, 60]) : random.pick([20, 25, 30])
  return {
    id: String(++counter.colour),
    code,
    name: colourNames[code] as string,
    ecommerceProductId: random.chance(0.93) ? `8${String(20_410_000_000 + counter.colour * 7919)}` : null,
    markdownStatus,
    price: markdownStatus === 'none' ? price : reducePrice(price, percent),
    markedDown: markdownStatus === 'none' ? null : referenceDay - random.integer(20, 75),
    sizes: sizes.map((size, index) => ({
      id: String(++counter.sku),
      sku: `${styleCode}-${code}-${size}`,
      size,
      sequence: index + 1,
      barcode: createBarcode(counter.sku * 37),
    })),
  }
}
