import type { Category } from './category.ts'
import { otherCategories } from './others.ts'
import { tops } from './tops.ts'

/** The categories of the retailer. */
export const categories: readonly Category[] = [...tops, ...otherCategories]
