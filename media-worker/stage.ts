/** A step of the audio's way that is pure in time: media time comes in with the data, nothing waits. */
export interface Stage<In, Out> {
  push(input: In): Out[];
}
