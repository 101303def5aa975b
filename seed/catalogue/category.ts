/** The people for whom a style is made. */
export type Gender = 'women' | 'men' | 'unisex'

/** A type of garment: the names, materials and prices of its styles. */
export interface Category {
  name: string
  styles: number
  /** Names of the garment, each with its abbreviation in codes, and its fabric if only one is possible. */
  nouns: readonly (readonly [noun: string, code: string, fabric?: string])[]
  genders: readonly Gender[]
  sizes: Record<Gender, string>
  brands: readonly string[]
  fabrics: readonly string[]
  /** Cents. */
  prices: readonly number[]
  palette: string
  /** The sales weight, relative to the other categories. */
  popularity: number
  /** The sales weight by month, January first. */
  months: readonly number[]
  openings: readonly string[]
  closings: readonly string[]
}

export const letterSizes = { women: 'XS S M L XL', men: 'S M L XL XXL', unisex: 'XS S M L XL XXL' }
export const numberSizes = { women: '6 8 10 12 14 16 18', men: '28 30 32 34 36 38', unisex: 'XS S M L XL XXL' }
export const oneSize = { women: 'OS', men: 'OS', unisex: 'OS' }

export const summer = [14, 13, 11, 9, 7, 6, 6, 7, 9, 11, 13, 15]
export const winter = [5, 6, 8, 11, 14, 15, 14, 12, 9, 7, 6, 5]
export const allYear = [10, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 12]

export const everyday = 'NVY BLK WHT CHR OAT RST OLV SGE TEL SKY PLM CLR MUS SND GRY LIL BLS FOR'
