/** A place in a list. */
export interface Place<T> {
  readonly value: T;
  previous: Place<T> | undefined;
  next: Place<T> | undefined;
}

/**
 * Values in the order in which they came.
 *
 * It is not a Set, because V8 copies the table of a Set again and again as values come and go. A table that has moved to the old
 * generation keeps those that came after it, with every value that was ever in them, until the old generation is collected.
 */
export class InOrder<T> {
  private firstPlace: Place<T> | undefined;
  private lastPlace: Place<T> | undefined;

  get first(): T | undefined {
    return this.firstPlace?.value;
  }

  add(value: T): Place<T> {
    const place: Place<T> = { value, previous: this.lastPlace, next: undefined };
    if (this.lastPlace === undefined) this.firstPlace = place;
    else this.lastPlace.next = place;
    this.lastPlace = place;
    return place;
  }

  /** Takes the first one out. */
  shift(): T | undefined {
    const place = this.firstPlace;
    if (place !== undefined) this.remove(place);
    return place?.value;
  }

  /** Takes a place out, once. */
  remove(place: Place<T>): void {
    const { previous, next } = place;
    if (previous === undefined) this.firstPlace = next;
    else previous.next = next;
    if (next === undefined) this.lastPlace = previous;
    else next.previous = previous;
    place.previous = undefined;
    place.next = undefined;
  }

  /** Nothing may be taken out meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (let place = this.firstPlace; place !== undefined; place = place.next) yield place.value;
  }
}
