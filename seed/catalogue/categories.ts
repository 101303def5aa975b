import { bottomsAndAccessories } from './bottoms-and-accessories.ts'
import type { Category } from './category.ts'
import { tops } from './tops.ts'

export const categories: readonly Category[] = [...tops, ...bottomsAndAccessories]
